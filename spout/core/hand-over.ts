// When a shard that falls to us may be begun: at once when nobody else is at it, else after a while, so that who had it has
// stopped.
//
// Spouts don't talk to each other; all they share is the list of members. Who loses a shard stops with its own look at the list, and
// who gains it begins `handOverMs` after its look. When the looks lie further apart than that, both are at the shard for a moment:
// what both offer is claimed once, since the store's fence lets one claim win.
//
// Owns the set of shards that are ours now, and those that wait to become so.
//
// Invariants:
//   H1  A shard that isn't wanted any more is given up at once.
//   H2  A shard waits only for members that are there, and never longer than `handOverMs`.

interface Waiting {
  readonly dueMs: number;
  /** Who may still be at it. */
  readonly others: readonly string[];
}

export class HandOver {
  readonly #handOverMs: number;
  readonly #ours = new Set<number>();
  readonly #waiting = new Map<number, Waiting>();

  constructor(handOverMs: number) {
    this.#handOverMs = handOverMs;
  }

  /** Shards that are ours now, ascending. */
  get ours(): readonly number[] {
    return [...this.#ours].sort((one, other) => one - other);
  }

  /** When the next shard becomes ours. */
  get nextMs(): number | undefined {
    if (this.#waiting.size === 0) return undefined;
    return Math.min(...[...this.#waiting.values()].map(({ dueMs }) => dueMs));
  }

  /**
   * `wanted` is what falls to us now; `before` names the others that had a shard until now, `isThere` says who still is. All times
   * are monotonic, in ms.
   */
  change(
    wanted: readonly number[],
    before: (shard: number) => readonly string[],
    isThere: (processId: string) => boolean,
    nowMs: number,
  ): void {
    const now = new Set(wanted);
    for (const shard of this.#ours) if (!now.has(shard)) this.#ours.delete(shard);
    for (const shard of this.#waiting.keys()) if (!now.has(shard)) this.#waiting.delete(shard);
    for (const shard of now) {
      if (this.#ours.has(shard)) continue;
      const waiting = this.#waiting.get(shard);
      const others = (waiting?.others ?? before(shard)).filter(isThere);
      const dueMs = waiting?.dueMs ?? nowMs + this.#handOverMs;
      this.#waiting.set(shard, { dueMs: others.length > 0 ? dueMs : nowMs, others });
    }
    this.begin(nowMs);
  }

  /** Begins what has waited long enough. Answers whether there was any. */
  begin(nowMs: number): boolean {
    let begun = false;
    for (const [shard, { dueMs }] of this.#waiting) {
      if (nowMs < dueMs) continue;
      this.#waiting.delete(shard);
      this.#ours.add(shard);
      begun = true;
    }
    return begun;
  }
}
