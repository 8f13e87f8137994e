// Until when the locks of this process are surely ours.
//
// Ownership: one for each set of locks.
//
// Invariants:
//   M1  A deadline is counted from before the request went out, by our own monotonic clock: Redis begins to count later, so while the
//       deadline hasn't passed the lock is in Redis, unless Redis lost it.
//   M2  `#deadlines` stands in the order in which locks were taken or prolonged. What is over and was never given back is
//       forgotten from the front.

/** Locks that are over and are forgotten by one `set`: more than it adds. */
const maxForgotten = 4;

/** One run may be locked by several owners one after the other; each has a deadline of its own. */
export class Deadlines<Lock> {
  readonly #deadlines = new Map<string, { readonly untilMs: number; readonly lock: Lock }>();

  get size(): number {
    return this.#deadlines.size;
  }

  set(run: string, owner: string, untilMs: number, lock: Lock, nowMs: number): void {
    const key = keyOf(run, owner);
    this.#deadlines.delete(key);
    this.#deadlines.set(key, { untilMs, lock });
    this.#forget(nowMs);
  }

  /** Undefined when it was never taken, given back, or its time is over. */
  get(run: string, owner: string, nowMs: number): Lock | undefined {
    const entry = this.#deadlines.get(keyOf(run, owner));
    return entry !== undefined && entry.untilMs > nowMs ? entry.lock : undefined;
  }

  delete(run: string, owner: string): void {
    this.#deadlines.delete(keyOf(run, owner));
  }

  #forget(nowMs: number): void {
    let forgotten = 0;
    for (const [key, { untilMs }] of this.#deadlines) {
      if (untilMs > nowMs || forgotten++ === maxForgotten) return;
      this.#deadlines.delete(key);
    }
  }
}

function keyOf(run: string, owner: string): string {
  return `${owner}\n${run}`;
}
