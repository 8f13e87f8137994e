/** A number of places for what is under way at once, and a bounded line before them. */
export class Places {
  #free: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number, maxWaiting: number) {
    this.#free = places;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves with true when the caller has a place, to be given back; with false when the line is too long. */
  async take(): Promise<boolean> {
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    if (this.#waiting.length >= this.#maxWaiting) return false;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  /** The place goes to the next in line, or is free. */
  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
