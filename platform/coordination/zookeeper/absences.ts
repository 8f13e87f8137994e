// For how long each holder has been missed by a view of the members that may itself stand still.
//
// Invariants:
//   A1  Time passes here only while the view is current: nobody is gone for longer because nobody looked.
//   A2  A holder that was never seen has been missed since the view's first complete reading.

/** Holders that were seen and are missed now. Beyond it the longest missed counts as never seen, which is missed for longer. */
const maxMissed = 10_000;

export class Absences {
  /** When each that is missed was missed first, on the view's own clock. */
  readonly #missed = new Map<string, number>();
  #there: ReadonlySet<string> = new Set();
  /** The view's clock when it was stopped last, and the monotonic time in ms since when it goes again; undefined: it stands. */
  #stoppedAtMs = 0;
  #sinceMs: number | undefined;

  /** The view is current, or will be from `fromMs` on. Monotonic, in ms. */
  resume(fromMs: number, nowMs: number): void {
    this.pause(nowMs);
    this.#sinceMs = fromMs;
  }

  pause(nowMs: number): void {
    this.#stoppedAtMs = this.#viewMs(nowMs);
    this.#sinceMs = undefined;
  }

  /** A complete reading shows these holders. */
  see(there: ReadonlySet<string>, nowMs: number): void {
    const viewMs = this.#viewMs(nowMs);
    for (const holder of this.#there) if (!there.has(holder)) this.#missed.set(holder, viewMs);
    for (const holder of there) this.#missed.delete(holder);
    this.#there = there;
    for (const oldest of this.#missed.keys()) {
      if (this.#missed.size <= maxMissed) break;
      this.#missed.delete(oldest);
    }
  }

  /** In ms; 0 while it is there. */
  goneForMs(holder: string, nowMs: number): number {
    if (this.#there.has(holder)) return 0;
    return this.#viewMs(nowMs) - (this.#missed.get(holder) ?? 0);
  }

  #viewMs(nowMs: number): number {
    return this.#stoppedAtMs + (this.#sinceMs === undefined ? 0 : Math.max(0, nowMs - this.#sinceMs));
  }
}
