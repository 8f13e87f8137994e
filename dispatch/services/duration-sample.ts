/** Durations of which percentiles are asked: all of them, or a uniform sample once they are more than `maxKept`. */
export class DurationSample {
  #seen = 0;
  readonly #kept: number[] = [];
  readonly #maxKept: number;
  readonly #random: () => number;

  /** `random`: uniform in [0, 1). */
  constructor(maxKept: number, random: () => number) {
    this.#maxKept = maxKept;
    this.#random = random;
  }

  add(duration: number): void {
    this.#seen++;
    if (this.#kept.length < this.#maxKept) {
      this.#kept.push(duration);
      return;
    }
    // Reservoir sampling: each duration seen so far is kept with the same probability.
    const place = Math.floor(this.#random() * this.#seen);
    if (place < this.#maxKept) this.#kept[place] = duration;
  }

  /** The smallest duration that `share` (0 to 1) of all do not exceed; 0 when there is none. */
  percentiles(shares: readonly number[]): number[] {
    const sorted = Float64Array.from(this.#kept).sort();
    return shares.map((share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
  }
}
