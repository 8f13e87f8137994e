// What the holder of a run has heard about one step in one round, since it took the run: what its next call must take into account.

import type { StepState } from '../../../flow/run.ts';
import type { CallHappening } from '../world/history.ts';

/** Counts answers of one kind that holders heard, and knows what the store had when each of them took the run. */
export class Heard {
  /** By `run step round epoch`. */
  readonly #counts = new Map<string, { readonly stored: number; heard: number }>();

  /** A holder took the run with so many already stored for the step. */
  taken(run: string, step: string, { round }: StepState, epoch: number, stored: number): void {
    this.#counts.set(`${run} ${step} ${round} ${epoch}`, { stored, heard: 0 });
  }

  /** The holder heard one more. */
  note({ run, step, round, epoch }: CallHappening): void {
    const name = `${run} ${step} ${round} ${epoch}`;
    const count = this.#counts.get(name) ?? { stored: 0, heard: 0 };
    this.#counts.set(name, { ...count, heard: count.heard + 1 });
  }

  /** So many more have a cause of another kind. */
  add(run: string, step: string, { round }: StepState, epoch: number, more: number): void {
    const name = `${run} ${step} ${round} ${epoch}`;
    const count = this.#counts.get(name) ?? { stored: 0, heard: 0 };
    this.#counts.set(name, { ...count, heard: count.heard + more });
  }

  /** Those stored when the holder took the run and those it has heard of since. */
  most(run: string, step: string, round: number, epoch: number): number {
    const count = this.#counts.get(`${run} ${step} ${round} ${epoch}`);
    return count ? count.stored + count.heard : 0;
  }
}
