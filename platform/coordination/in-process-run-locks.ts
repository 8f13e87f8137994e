// Run locks where all who take them live in one process.
//
// Ownership: one object for the whole process.
//
// Invariants:
//   L1  A lock past its time is free, whether or not it is still in `#locks`.
//   L2  `#locks` stands in the order in which locks were taken or renewed; with one TTL for all, that of their end. So what is
//       over lies in front, and each `acquire` clears some of it away.

import type { Clock } from '../clock/clock.ts';
import type { LockResult, RunLocks } from './run-locks.ts';

/** Locks at a time; more than any process has runs in flight. Beyond it the answer is `unavailable`. */
const maxLocks = 1_000_000;

/** Locks that are over and are cleared away by one `acquire`: more than it adds. */
const maxCleared = 4;

interface Lock {
  readonly owner: string;
  readonly untilMs: number;
}

export class InProcessRunLocks implements RunLocks {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #locks = new Map<string, Lock>();
  readonly #maxLocks: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>, limit: number = maxLocks) {
    this.#clock = clock;
    this.#maxLocks = limit;
  }

  /** An owner that has the lock already gets it again, with the new time. */
  async acquire(run: string, owner: string, ttlMs: number): Promise<LockResult> {
    const nowMs = this.#clock.monotonicMs();
    this.#clear(nowMs);
    const lock = this.#locks.get(run);
    if (lock && lock.owner !== owner && lock.untilMs > nowMs) {
      return { kind: 'held', remainingMs: lock.untilMs - nowMs };
    }
    if (!lock && this.#locks.size >= this.#maxLocks) return { kind: 'unavailable' };
    this.#take(run, owner, nowMs + ttlMs);
    return { kind: 'acquired' };
  }

  async renew(runs: readonly string[], owner: string, ttlMs: number): Promise<readonly string[]> {
    const nowMs = this.#clock.monotonicMs();
    const lost: string[] = [];
    for (const run of runs) {
      if (this.#has(run, owner, nowMs)) this.#take(run, owner, nowMs + ttlMs);
      else lost.push(run);
    }
    return lost;
  }

  async release(runs: readonly string[], owner: string): Promise<void> {
    for (const run of runs) if (this.#locks.get(run)?.owner === owner) this.#locks.delete(run);
  }

  #has(run: string, owner: string, nowMs: number): boolean {
    const lock = this.#locks.get(run);
    return lock !== undefined && lock.owner === owner && lock.untilMs > nowMs;
  }

  #take(run: string, owner: string, untilMs: number): void {
    // To the end of the order (L2).
    this.#locks.delete(run);
    this.#locks.set(run, { owner, untilMs });
  }

  #clear(nowMs: number): void {
    let cleared = 0;
    for (const [run, { untilMs }] of this.#locks) {
      if (untilMs > nowMs || cleared++ === maxCleared) return;
      this.#locks.delete(run);
    }
  }
}
