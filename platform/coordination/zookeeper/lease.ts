import type { Clock, Timer } from '../../clock/clock.ts';

/** Something that holds until a moment of the monotonic clock, unless it is prolonged before. */
export class Lease {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #untilMs = Number.NEGATIVE_INFINITY;
  #end: Timer | undefined;

  /** `onChange`: `holds` has changed. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** True up to the moment itself, whenever timers run. */
  get holds(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }

  prolong(untilMs: number): void {
    const held = this.holds;
    this.#untilMs = untilMs;
    this.#end?.cancel();
    if (this.holds) this.#awaitEnd();
    if (held !== this.holds) this.#onChange();
  }

  end(): void {
    this.prolong(Number.NEGATIVE_INFINITY);
  }

  #awaitEnd(): void {
    this.#end = this.#clock.after(this.#untilMs - this.#clock.monotonicMs(), () => {
      // Timers of a busy process count from when its turn began, and run that much early.
      if (this.holds) this.#awaitEnd();
      else this.#onChange();
    });
  }
}
