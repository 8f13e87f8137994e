// Chance from a seed: the same on every machine, and apart for each purpose, so that one more roll for a fault doesn't change
// the items of the workload.

/** A stream of pseudo-random numbers (sfc32, 32-bit integer arithmetic throughout). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Streams of one seed with different names are independent of each other. */
  constructor(seed: number, stream: string) {
    let state = seed | 0;
    for (let index = 0; index < stream.length; index++) state = mix(state ^ stream.charCodeAt(index));
    this.#a = mix(state + 0x9e3779b9);
    this.#b = mix(this.#a + 0x9e3779b9);
    this.#c = mix(this.#b + 0x9e3779b9);
    // The first numbers still show the seed.
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** Uniform in [0, 1). */
  readonly next = (): number => this.#word() / 2 ** 32;

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Waiting times of events that come at random, `meanMs` apart on average; at least 1. */
  intervalMs(meanMs: number): number {
    return Math.max(1, Math.round(-Math.log(1 - this.next()) * meanMs));
  }

  #word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** Spreads every bit of a word over all others. */
function mix(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}
