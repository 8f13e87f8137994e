// Runs that were offered and wait for their claim: the lowest level number first, inside a level by arrival.
// Bounded by the credits that this dispatch gave out.

interface Line<Item> {
  items: Item[];
  /** Index of the first item that was not taken: taking is O(1). */
  head: number;
}

const levels = 9;

export class ReadyQueue<Item> {
  #size = 0;
  readonly #lines: Array<Line<Item>> = Array.from({ length: levels }, () => ({ items: [], head: 0 }));

  get size(): number {
    return this.#size;
  }

  /** `level` is 1 to 9. */
  push(level: number, item: Item): void {
    this.#line(level).items.push(item);
    this.#size++;
  }

  take(): Item | undefined {
    for (const line of this.#lines) {
      const item = line.items[line.head];
      if (item === undefined) continue;
      line.head++;
      this.#size--;
      // Half of it taken: what is left moves to the front, so that the line never keeps more than twice what waits in it.
      if (line.head * 2 >= line.items.length) {
        line.items = line.items.slice(line.head);
        line.head = 0;
      }
      return item;
    }
    return undefined;
  }

  /** Something waits at this level or at one that goes before it. */
  waitsAtOrBefore(level: number): boolean {
    return this.#lines.slice(0, level).some((line) => line.head < line.items.length);
  }

  #line(level: number): Line<Item> {
    const line = this.#lines[level - 1];
    if (!line) throw new Error(`invariant: level ${level} is not 1 to ${levels}`);
    return line;
  }
}
