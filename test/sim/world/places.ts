// The places that one process has at its modules. Calls beyond them wait, in the order of their coming.

/** Each place that is taken is given back once. */
export class Places {
  readonly #each: number;
  readonly #taken = new Map<string, number>();
  readonly #lines = new Map<string, Set<() => void>>();

  /** `each`: places at one module. */
  constructor(each: number) {
    this.#each = each;
  }

  /** Takes a place and calls `enter`: now, or when one is given back. */
  take(module: string, enter: () => void): void {
    const taken = this.#taken.get(module) ?? 0;
    if (taken >= this.#each) {
      this.#lineOf(module).add(enter);
      return;
    }
    this.#taken.set(module, taken + 1);
    enter();
  }

  /** Leaves the line. */
  leave(module: string, enter: () => void): void {
    this.#lineOf(module).delete(enter);
  }

  /** The next in the line has the place at once. */
  giveBack(module: string): void {
    const line = this.#lineOf(module);
    const [next] = line;
    if (!next) {
      this.#taken.set(module, (this.#taken.get(module) ?? 0) - 1);
      return;
    }
    line.delete(next);
    next();
  }

  #lineOf(module: string): Set<() => void> {
    const line = this.#lines.get(module) ?? new Set();
    this.#lines.set(module, line);
    return line;
  }
}
