// What can be seen of the runs from outside while processes die: how many have come to rest. An engine that is gone is asked again.

import { setTimeout as pause } from 'node:timers/promises';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import { business } from './chain.ts';
import type { Target } from './target.ts';

/** Between two questions: as long as the last one took, and at least so long, in ms. */
const askEveryMs = 40;
/** Longest time without a commit: far longer than engines and modules take to start, or any run sleeps. */
const maxStillMs = 40_000;

export class Progress {
  readonly #clients: ReadonlyArray<Client<typeof Runs>>;
  readonly #signal: AbortSignal;
  readonly #askTimeoutMs: number;

  /** `signal` ends all waiting: it rejects then. */
  constructor({ addresses, askTimeoutMs }: Pick<Target, 'addresses' | 'askTimeoutMs'>, signal: AbortSignal) {
    this.#signal = signal;
    this.#askTimeoutMs = askTimeoutMs;
    this.#clients = addresses.map((address) => connect(Runs, address, { maxReconnectMs: 100 }));
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  /** Resolves when more runs have come to rest than at the first look: a commit was accepted since this was called. */
  async untilCommit(): Promise<void> {
    const before = (await this.#look()).atRest;
    await this.#until(({ atRest }) => atRest > before, 'a commit');
  }

  /** Resolves when so many runs have come to rest. */
  async untilAtRest(runs: number): Promise<void> {
    let most = -1;
    for (;;) {
      const { atRest } = await this.#until((seen) => seen.atRest > most, `${runs} runs at rest`);
      most = atRest;
      if (atRest >= runs) return;
    }
  }

  async #until(isEnough: (seen: Seen) => boolean, what: string): Promise<Seen> {
    const beganMs = performance.now();
    for (;;) {
      const askedMs = performance.now();
      const seen = await this.#look();
      const tookMs = performance.now() - askedMs;
      if (isEnough(seen)) return seen;
      if (performance.now() - beganMs > maxStillMs) {
        throw new Error(`waited ${maxStillMs / 1_000} s for ${what}; runs are ${JSON.stringify(seen.states)}`);
      }
      await pause(Math.max(askEveryMs, tookMs), undefined, { signal: this.#signal });
    }
  }

  /** The first answer of any engine. */
  async #look(): Promise<Seen> {
    const beganMs = performance.now();
    for (;;) {
      for (const client of this.#clients) {
        try {
          const { states } = await client.summarize({ filter: { business } }, { timeoutMs: this.#askTimeoutMs });
          const counts = states.map(({ state, runs }) => [state, Number(runs)] as const);
          const atRest = counts.filter(([state]) => resting.has(state)).reduce((sum, [, runs]) => sum + runs, 0);
          return { atRest, states: Object.fromEntries(counts.map(([state, runs]) => [State[state], runs])) };
        } catch (error) {
          if (performance.now() - beganMs > maxStillMs) throw error;
        }
      }
      await pause(askEveryMs, undefined, { signal: this.#signal });
    }
  }
}

interface Seen {
  readonly atRest: number;
  readonly states: Readonly<Record<string, number>>;
}

const resting: ReadonlySet<State> = new Set([State.SUCCEEDED, State.FAILED, State.CANCELLED, State.PARKED]);
