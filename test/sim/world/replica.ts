// A copy of the store that is behind: what a read shows that reached the wrong server, or a cache. Each read sees one state that the
// store had, as a whole, and a later read never an older one.
//
// Owns the changes that the copy has not made yet.

import type { Store } from '../../../store/port.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** How far the copy may be behind, in ms. */
const maxBehindMs = 5_000;

interface Change {
  readonly atMs: number;
  readonly make: (store: Store) => Promise<unknown>;
}

export class Replica {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #copy: Store;
  readonly #changes: Change[] = [];
  #made = 0;

  /** `copy` is as empty as the store is now. */
  constructor(time: VirtualTime, random: Random, copy: Store) {
    this.#time = time;
    this.#random = random;
    this.#copy = copy;
  }

  /** The store was changed. */
  note(make: Change['make']): void {
    this.#changes.push({ atMs: this.#time.elapsedMs, make });
  }

  async read<Result>(perform: (store: Store) => Promise<Result>): Promise<Result> {
    const nowMs = this.#time.elapsedMs;
    const behindMs = this.#random.chance(0.3) ? this.#random.between(0, maxBehindMs) : maxBehindMs;
    for (
      let next = this.#changes[this.#made];
      next && next.atMs <= nowMs - behindMs;
      next = this.#changes[this.#made]
    ) {
      this.#made++;
      await next.make(this.#copy);
    }
    return perform(this.#copy);
  }
}
