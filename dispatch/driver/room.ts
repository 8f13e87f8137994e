// How many runs, and how many bytes of them, this process can still take.
//
// Invariants:
//   P1  Nothing is available once closed, and while `mayBegin` says no.
//   P2  Of those who wait for room and may take it, the first who came is woken, and the next one once it has taken its part.

import type { Clock } from '../../platform/clock/clock.ts';

export interface RoomLimits {
  readonly maxRuns: number;
  readonly maxBytes: number;
}

interface Waiting {
  readonly runs: number;
  readonly mayTake: () => boolean;
  readonly wake: () => void;
}

export class Room {
  readonly #clock: Clock;
  readonly #limits: RoomLimits;
  #runs = 0;
  #bytes = 0;
  #closed = false;
  #granted = false;
  /** As long as there are callers of `whenRoomFor`: messages of streams, few each. */
  #waiting: Waiting[] = [];
  /** Whether this process may begin anything new. `mayBeginChanged` is to be called when the answer is another one. */
  mayBegin: () => boolean = () => true;
  /** Called whenever a place became free, or none is there any more though none was taken. */
  onFreed: () => void = () => {};

  constructor(clock: Clock, limits: RoomLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Runs that have a place. */
  get taken(): number {
    return this.#runs;
  }

  available(): { readonly runs: number; readonly bytes: number } {
    if (this.#closed || !this.mayBegin()) return { runs: 0, bytes: 0 };
    const { maxRuns, maxBytes } = this.#limits;
    return { runs: Math.max(0, maxRuns - this.#runs), bytes: Math.max(0, maxBytes - this.#bytes) };
  }

  /** False when there is no room for a run of so many bytes. */
  take(bytes: number): boolean {
    const { runs, bytes: free } = this.available();
    // Whatever a run weighs, it has a place where there is no other.
    if (runs === 0 || (free < bytes && this.#runs > 0)) return false;
    this.takeAnyway(bytes);
    return true;
  }

  /** For a run that is here already, whatever the limits say. */
  takeAnyway(bytes: number): void {
    this.#runs++;
    this.#bytes += bytes;
  }

  /** What has a place became larger. */
  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#runs--;
    this.#bytes -= bytes;
    if (this.#runs < 0 || this.#bytes < 0)
      throw new Error(`invariant: a place was given back twice (${this.#runs} runs)`);
    this.recheck();
    this.onFreed();
  }

  /**
   * Resolves when there is room for so many runs and `mayTake` says that nobody goes before them, or when `patienceMs` is over.
   * `recheck` is to be called when `mayTake` may have changed.
   */
  whenRoomFor(runs: number, mayTake: () => boolean, patienceMs: number): Promise<void> {
    const wanted = Math.min(runs, this.#limits.maxRuns);
    const goesFirst = !this.#granted && !this.#waiting.some((waiting) => waiting.mayTake());
    if (goesFirst && this.available().runs >= wanted && mayTake()) {
      this.#grant();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = this.#clock.after(patienceMs, () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        resolve();
      });
      const waiting = {
        runs: wanted,
        mayTake,
        wake: () => {
          timer.cancel();
          resolve();
        },
      };
      this.#waiting.push(waiting);
    });
  }

  /** There is room again, or none for now: who waits for it goes on waiting. */
  mayBeginChanged(): void {
    this.recheck();
    this.onFreed();
  }

  /** From now on there is no room; who waits for it is woken. */
  close(): void {
    this.#closed = true;
    for (const { wake } of this.#waiting.splice(0)) wake();
  }

  /** Wakes the first who may go on, when there is room for it; those behind it once it has taken what it waited for. */
  recheck(): void {
    if (this.#granted) return;
    const first = this.#waiting.find(({ mayTake }) => mayTake());
    if (!first || this.available().runs < first.runs) return;
    this.#waiting = this.#waiting.filter((other) => other !== first);
    first.wake();
    this.#grant();
  }

  /** Until the next turn nobody else is told of the room that somebody is about to take. */
  #grant(): void {
    this.#granted = true;
    this.#clock.soon(() => {
      this.#granted = false;
      this.recheck();
    });
  }
}
