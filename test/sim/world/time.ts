// Virtual time: all that happens in a simulated world, in one order.
//
// Owns the queue of events and the time. Nothing else of the world advances.
//
// Invariants:
//   V1  Events run in the order of their time, then of their making: one schedule gives one history.
//   V2  Before the next event runs, all promise reactions of the one before have run.
//   V3  Time never goes back.

/** When the worlds begin, in ms since 1970. */
const beginMs = Date.UTC(2026, 0, 1);

interface Event {
  readonly atMs: number;
  readonly sequence: number;
  readonly action: () => void;
}

export class VirtualTime {
  #elapsedMs = 0;
  #leaptMs = 0;
  #sequence = 0;
  /** A binary heap, the next event first. */
  readonly #events: Event[] = [];

  /** Milliseconds since the world began. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** The same, as a clock says it. */
  monotonicMs(): number {
    return this.#elapsedMs;
  }

  /** What a clock that goes right shows, in ms since 1970. */
  get wallMs(): number {
    return beginMs + this.#elapsedMs + this.#leaptMs;
  }

  /**
   * All wall clocks go on by so much at once: for a world in which nothing happens but that something waits for a time that a
   * clock which was wrong has written.
   */
  leap(durationMs: number): void {
    this.#leaptMs += durationMs;
  }

  after(delayMs: number, action: () => void): void {
    const atMs = this.#elapsedMs + Math.max(0, Math.ceil(delayMs));
    this.#push({ atMs, sequence: this.#sequence++, action });
  }

  /** Runs all events up to a time, in ms since the world began. */
  async run(untilMs: number): Promise<void> {
    await settle();
    for (let event = this.#events[0]; event !== undefined && event.atMs <= untilMs; event = this.#events[0]) {
      this.#pop();
      this.#elapsedMs = event.atMs;
      event.action();
      await settle();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
  }

  #push(event: Event): void {
    const events = this.#events;
    let place = events.length;
    events.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = events[parent];
      if (!above || isBefore(above, event)) break;
      events[place] = above;
      place = parent;
    }
    events[place] = event;
  }

  #pop(): void {
    const events = this.#events;
    const last = events.pop();
    if (!last || events.length === 0) return;
    let place = 0;
    for (;;) {
      const child = this.#earlierChild(place);
      const below = events[child];
      if (!below || isBefore(last, below)) break;
      events[place] = below;
      place = child;
    }
    events[place] = last;
  }

  #earlierChild(place: number): number {
    const left = 2 * place + 1;
    const [one, other] = [this.#events[left], this.#events[left + 1]];
    return one && other && isBefore(other, one) ? left + 1 : left;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.sequence < other.sequence);
}

/** A macrotask begins when no promise reaction is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
