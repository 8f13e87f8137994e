// Items that kill the process of the engine that takes them, as a bug or a want of memory would: nobody who begins to work on one gets
// to commit anything of it, before healing and after.
//
// Owns nothing.

import type { RunId } from '../../../flow/run.ts';
import { identityOf } from '../../../flow/run-id.ts';
import type { Surroundings } from './process.ts';

/** Longest time that a process stays down, in ms: its session and the grace after it take longer anyway. */
const maxDownMs = 1_000;

export class DeadlyItems {
  readonly #world: Surroundings;
  readonly #deadly: ReadonlySet<string>;

  /** `deadly`: their identities, as `business/flow/key`. */
  constructor(world: Surroundings, deadly: ReadonlySet<string>) {
    this.#world = world;
    this.#deadly = deadly;
  }

  begin(): void {
    this.#world.store.onTaken = (run, incarnation) => this.#taken(run, incarnation);
  }

  #taken(run: RunId, incarnation: string): void {
    if (!this.#deadly.has(identityOf(run))) return;
    const { time, processes, faults, scheduling } = this.#world;
    const process = processes.find(({ current }) => current?.name === incarnation);
    // Before it hears that its write was accepted.
    time.after(0, () => {
      if (process?.current?.name !== incarnation) return;
      faults.record('deadly item', `${run} in ${incarnation}`);
      process.crash();
      time.after(scheduling.between(50, maxDownMs), () => process.start());
    });
  }
}
