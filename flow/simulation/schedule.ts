// What is to come in a simulation, in the order in which it comes.
//
// Ownership: one Schedule belongs to one simulation.
//
// Invariants:
//   Q1  Items are in the order of their times; of those at one time, the one that was set off first comes first.

import type { Decided } from './virtual-run.ts';

export interface Pending {
  /** In ms since 1970. */
  readonly atMs: number;
  /** The step whose effect it ends, or the run that it is about: what it is forgotten by. */
  readonly of?: string;
  /** Whether it is lost with the holder of the run. */
  readonly diesWithHolder: boolean;
  /** For people. */
  readonly what: string;
  readonly perform: () => Decided;
}

export class Schedule {
  #pending: Pending[] = [];

  get first(): Pending | undefined {
    return this.#pending[0];
  }

  add(pending: Pending): void {
    const later = this.#pending.findIndex((each) => each.atMs > pending.atMs);
    this.#pending.splice(later < 0 ? this.#pending.length : later, 0, pending);
  }

  remove(pending: Pending): void {
    this.#pending = this.#pending.filter((each) => each !== pending);
  }

  /** Nobody waits for it any more. */
  forget(of: string): void {
    this.#pending = this.#pending.filter((each) => each.of !== of);
  }

  loseHolder(): void {
    this.#pending = this.#pending.filter(({ diesWithHolder }) => !diesWithHolder);
  }
}
