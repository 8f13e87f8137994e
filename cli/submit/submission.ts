// Sends items over one stream and counts what became of them.
//
// Invariants:
//   U1  The engine answers each message once, in order: the first of `#unanswered` is the one that the next answer is for.
//   U2  At most `maxUnanswered` messages are unanswered: memory is bounded, however large the input is.

import type { Client } from '../../platform/rpc/client.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Runs, SubmitStreamResponse } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { NumberedItem } from './batches.ts';

/** Twice what the engine works on at a time, so that it never waits for the next message. */
const maxUnanswered = 8;

export interface SubmissionListener {
  accepted(created: boolean): void;
  /** `place` names the field, or is empty. */
  refused(line: number, place: string, message: string): void;
}

export class Submission {
  readonly #stream: ReturnType<Client<typeof Runs>['submitStream']>;
  readonly #listener: SubmissionListener;
  readonly #unanswered: Array<readonly NumberedItem[]> = [];
  readonly #answers: Promise<void>;
  #wake: () => void = () => {};
  #ended = false;

  constructor(client: Client<typeof Runs>, listener: SubmissionListener) {
    this.#stream = client.submitStream();
    this.#listener = listener;
    this.#answers = this.#receive();
    // Met by whoever sends next, or by `finish`.
    this.#answers.catch(() => {});
  }

  /** Resolves when there is room for the next batch. Rejects with an RpcError when the engine is gone. */
  async send(batch: readonly NumberedItem[]): Promise<void> {
    while (this.#unanswered.length >= maxUnanswered && !this.#ended) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#ended) return this.#failed();
    this.#unanswered.push(batch);
    try {
      await this.#stream.send({ items: batch.map(({ item }) => item) });
    } catch {
      // Why the stream ended is told where its answers are read.
      await this.#failed();
    }
  }

  /** Rejects as soon as the engine is gone, also while there is nothing to send. */
  async untilBroken(): Promise<never> {
    await this.#answers;
    return this.#failed();
  }

  /** Resolves when everything that was sent is answered. */
  async finish(): Promise<void> {
    this.#stream.end();
    await this.#answers;
    if (this.#unanswered.length > 0) await this.#failed();
  }

  async #receive(): Promise<void> {
    try {
      for await (const response of this.#stream.responses) this.#answered(response);
    } finally {
      this.#ended = true;
      this.#wake();
    }
  }

  #answered({ results }: SubmitStreamResponse): void {
    const batch = this.#unanswered.shift() ?? [];
    for (const [index, { result }] of results.entries()) {
      if (result.case === 'accepted') this.#listener.accepted(result.value.created);
      else if (result.case === 'refused') {
        this.#listener.refused(batch[index]?.line ?? 0, result.value.field, result.value.message);
      }
    }
    this.#wake();
  }

  async #failed(): Promise<never> {
    await this.#answers;
    throw new RpcError(Code.UNAVAILABLE, 'the engine is stopping');
  }
}
