// Sends the items in and doesn't let go before each is acknowledged; asks for those that are to be cancelled to be cancelled.
//
// Owns what was acknowledged.

import { setTimeout as pause } from 'node:timers/promises';
import { connect, type Client as RunsClient } from '../../../platform/rpc/client.ts';
import { Code, RpcError } from '../../../platform/rpc/error.ts';
import { Refusal, Runs, type SubmitResult } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { business, flow, type Item, item, seedOf } from './chain.ts';

/** Items of one message, and messages under way. */
const batchItems = 20;
const senders = 4;
/** Until nobody waits for an answer any more: longer than a process is paused, so that most answers are heard. */
const timeoutMs = 5_000;
const againMs = 50;

export class Client {
  /** Of the items that were acknowledged, the number of times that they were sent. */
  readonly acknowledged = new Map<number, number>();
  /** Cancels that were acknowledged, and those that came when the run had ended. */
  readonly cancels = { accepted: 0, late: 0 };
  /** Answers that no engine should give. */
  readonly violations: string[] = [];
  readonly #runs: ReadonlyArray<RunsClient<typeof Runs>>;
  readonly #items: number;
  readonly #allowed: () => number;
  #next = 0;
  #turn = 0;

  /** `allowed`: how many items may have been sent by now. */
  constructor(addresses: readonly string[], items: number, allowed: () => number) {
    this.#runs = addresses.map((address) => connect(Runs, address, { maxReconnectMs: 100 }));
    this.#items = items;
    this.#allowed = allowed;
  }

  /** Resolves when every item is acknowledged or refused for good. Rejects when `signal` aborts. */
  async submitAll(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all(Array.from({ length: senders }, () => this.#send(signal)));
    } finally {
      for (const runs of this.#runs) runs.close();
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    while (this.#next < this.#items) {
      if (this.#next >= this.#allowed()) {
        await pause(againMs, undefined, { signal });
        continue;
      }
      const first = this.#next;
      this.#next = Math.min(this.#items, first + batchItems);
      const batch = Array.from({ length: this.#next - first }, (_, index) => item(first + index, this.#items));
      await this.#submit(batch, signal);
      for (const each of batch) if (each.fate === 'cancelled') await this.#cancel(each, signal);
    }
  }

  async #submit(batch: readonly Item[], signal: AbortSignal): Promise<void> {
    let open = batch;
    for (let sending = 1; open.length > 0; sending++) {
      const results = await this.#ask(signal, (runs) => runs.submit({ items: open.map(message) }, { timeoutMs }));
      if (results === undefined) continue;
      open = open.filter((each, index) => {
        const answer = this.#read(each, results.results[index]);
        if (answer === 'accepted') this.acknowledged.set(each.number, sending);
        return answer === 'again';
      });
    }
  }

  async #cancel({ key }: Item, signal: AbortSignal): Promise<void> {
    const run = { business, flow, key: Buffer.from(key) };
    const request = { run, cause: 'as planned', requestId: `cancel-${key}` };
    for (;;) {
      const answer = await this.#ask(signal, async (runs) => {
        try {
          await runs.cancel(request, { timeoutMs });
          return 'accepted' as const;
        } catch (error) {
          if (!(error instanceof RpcError) || isPassing(error)) throw error;
          if (error.code === Code.FAILED_PRECONDITION) return 'late' as const;
          this.violations.push(`cancel of ${key}: ${error.message}`);
          return 'refused' as const;
        }
      });
      if (answer === undefined) continue;
      if (answer !== 'refused') this.cancels[answer]++;
      return;
    }
  }

  #read({ key }: Item, { result }: Pick<SubmitResult, 'result'> = { result: { case: undefined } }) {
    if (result.case === 'accepted') return 'accepted';
    if (result.case !== 'refused' || result.value.refusal === Refusal.UNAVAILABLE) return 'again';
    this.violations.push(`${key} was refused: ${result.value.message}`);
    return 'refused';
  }

  /** The answer of the next engine in turn; undefined when it gave none, after a moment. */
  async #ask<Answer>(
    signal: AbortSignal,
    call: (runs: RunsClient<typeof Runs>) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    signal.throwIfAborted();
    const runs = this.#runs[this.#turn++ % this.#runs.length];
    if (!runs) throw new Error('there is no engine to ask');
    try {
      return await call(runs);
    } catch (error) {
      if (!(error instanceof RpcError) || !isPassing(error)) throw error;
      await pause(againMs, undefined, { signal });
      return undefined;
    }
  }
}

function message(each: Item) {
  const fields = [{ key: Buffer.from('seed'), value: Buffer.from(seedOf(each)) }];
  return { business, flow, key: Buffer.from(each.key), fields };
}

/** Whatever isn't said by an engine is what its death or its pause looks like. */
function isPassing({ origin, code }: RpcError): boolean {
  return origin !== 'peer' || code === Code.UNAVAILABLE;
}
