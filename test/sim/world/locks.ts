// The lock service: at some distance, at times not there, and at times it forgets everything.

import { InProcessRunLocks } from '../../../platform/coordination/in-process-run-locks.ts';
import type { RunLocks } from '../../../platform/coordination/run-locks.ts';
import type { ProcessClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

export class SimulatedLocks {
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #random: Random;
  #locks: InProcessRunLocks;

  constructor(world: { time: VirtualTime; faults: Faults; scheduling: Random }) {
    this.#time = world.time;
    this.#faults = world.faults;
    this.#random = world.scheduling;
    this.#locks = new InProcessRunLocks(this.#time);
  }

  /** Forgets all locks. */
  flush(): void {
    this.#locks = new InProcessRunLocks(this.#time);
  }

  /** The service as one process reaches it. */
  handle(process: string, clock: ProcessClock): RunLocks {
    return {
      acquire: (run, owner, ttlMs) => {
        if (this.#faults.strikes('locks unavailable', process))
          return this.#ask(clock, async () => ({ kind: 'unavailable' }));
        return this.#ask(clock, () => this.#locks.acquire(run, owner, ttlMs));
      },
      renew: (runs, owner, ttlMs) => this.#ask(clock, () => this.#locks.renew(runs, owner, ttlMs)),
      release: (runs, owner) => this.#ask(clock, () => this.#locks.release(runs, owner)),
    };
  }

  #ask<Result>(clock: ProcessClock, perform: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#time.after(this.#random.between(1, 3), () => {
        perform().then((result) => clock.after(this.#random.between(1, 3), () => resolve(result)), reject);
      });
    });
  }
}
