// The lock service: at some distance, at times not there or out of reach; at times it forgets everything, and at times a lock stays
// behind somebody who is gone.

import { InProcessRunLocks } from '../../../platform/coordination/in-process-run-locks.ts';
import type { RunLocks } from '../../../platform/coordination/run-locks.ts';
import type { ProcessClock } from './clock.ts';
import { type Cuts, theLocks } from './cuts.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** Longest time that a lock stays behind somebody who is gone, in ms: longer than any time to live of the settings. */
const maxGhostMs = 30_000;
/** How long a process waits for the lock service, in ms. */
const timeoutMs = 500;

export class SimulatedLocks {
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #random: Random;
  readonly #cuts: Cuts;
  #locks: InProcessRunLocks;

  constructor(world: { time: VirtualTime; faults: Faults; scheduling: Random; cuts: Cuts }) {
    this.#time = world.time;
    this.#faults = world.faults;
    this.#random = world.scheduling;
    this.#cuts = world.cuts;
    this.#locks = new InProcessRunLocks(this.#time);
  }

  /** Forgets all locks. */
  flush(): void {
    this.#locks = new InProcessRunLocks(this.#time);
  }

  /** The service as an incarnation of a process reaches it. What it can't ask for it doesn't know to be lost. */
  handle(process: string, incarnation: string, clock: ProcessClock): RunLocks {
    const ask = <Result>(instead: Result, perform: () => Promise<Result>): Promise<Result> =>
      this.#cuts.isCut(process, theLocks) ? this.#silence(clock, instead) : this.#ask(clock, perform);
    return {
      acquire: (run, owner, ttlMs) => {
        if (this.#faults.strikes('locks unavailable', incarnation))
          return this.#silence(clock, { kind: 'unavailable' });
        const isGhost = this.#faults.strikes('ghost lock', incarnation);
        return ask({ kind: 'unavailable' }, async () => {
          if (isGhost) await this.#locks.acquire(run, 'ghost', this.#random.between(100, maxGhostMs));
          return this.#locks.acquire(run, owner, ttlMs);
        });
      },
      renew: (runs, owner, ttlMs) => ask([], () => this.#locks.renew(runs, owner, ttlMs)),
      release: (runs, owner) => ask(undefined, () => this.#locks.release(runs, owner)),
    };
  }

  #silence<Result>(clock: ProcessClock, instead: Result): Promise<Result> {
    return new Promise((resolve) => clock.after(this.#random.between(1, timeoutMs), () => resolve(instead)));
  }

  #ask<Result>(clock: ProcessClock, perform: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#time.after(this.#random.between(1, 3), () => {
        perform().then((result) => clock.after(this.#random.between(1, 3), () => resolve(result)), reject);
      });
    });
  }
}
