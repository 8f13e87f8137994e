// Who waits for a free place at a module.
//
// Owns the order; a waiter belongs to whoever added it and is in at most one line.
// 1. Lower levels first; inside a level in the order of arrival, those that can't go everywhere before those that can.
// 2. Adding and removing cost the same however many wait.
// The line has no limit of its own: each waiter is a call of a run that this process holds, and those are limited.

import { lastLevel } from '../../flow/level.ts';

/** What stands in a line. The line keeps its links here. */
export interface Waiter {
  /** 1 (first) to 9. */
  readonly level: number;
  /** Whether it may go to any endpoint that has a place: then one stands for all of its kind. */
  readonly goesAnywhere: boolean;
  place?: Place | undefined;
}

interface Place {
  readonly lane: Lane<Waiter>;
  before: Waiter | undefined;
  after: Waiter | undefined;
}

interface Lane<W extends Waiter> {
  first: W | undefined;
  last: W | undefined;
}

export class WaitingLine<W extends Waiter> {
  /** Two lanes a level: those that can't go everywhere, then those that can. */
  readonly #lanes: Lane<W>[] = Array.from({ length: lastLevel * 2 }, () => ({ first: undefined, last: undefined }));
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: W): void {
    const lane = this.#lanes[(waiter.level - 1) * 2 + (waiter.goesAnywhere ? 1 : 0)];
    if (!lane || waiter.place) throw new Error(`invariant: level ${waiter.level} of 1 to 9, or waiting twice`);
    waiter.place = { lane, before: lane.last, after: undefined };
    if (lane.last?.place) lane.last.place.after = waiter;
    else lane.first = waiter;
    lane.last = waiter;
    this.#size++;
  }

  /** Does nothing when it doesn't wait. */
  remove(waiter: W): void {
    const { place } = waiter;
    if (!place) return;
    if (place.before?.place) place.before.place.after = place.after;
    else place.lane.first = place.after;
    if (place.after?.place) place.after.place.before = place.before;
    else place.lane.last = place.before;
    waiter.place = undefined;
    this.#size--;
  }

  /**
   * The first that `may` go now; it stays in the line. Of those that go anywhere only the very first is asked: what is true for
   * it is true for all of them.
   */
  first(may: (waiter: W) => boolean): W | undefined {
    if (this.#size === 0) return undefined;
    let noneGoesAnywhere = false;
    let anywhere = true;
    for (const lane of this.#lanes) {
      anywhere = !anywhere;
      if (anywhere && noneGoesAnywhere) continue;
      for (let waiter = lane.first; waiter; waiter = waiter.place?.after as W | undefined) {
        if (may(waiter)) return waiter;
        if (anywhere) break;
      }
      noneGoesAnywhere ||= anywhere && lane.first !== undefined;
    }
    return undefined;
  }

  /** All, in order. */
  *[Symbol.iterator](): Iterator<W> {
    for (const lane of this.#lanes) {
      for (let waiter = lane.first; waiter; waiter = waiter.place?.after as W | undefined) yield waiter;
    }
  }
}
