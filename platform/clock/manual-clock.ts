import type { Clock, Timer } from './clock.ts';

interface Pending {
  readonly atMs: number;
  readonly sequence: number;
  readonly action: () => void;
}

/** A clock that moves only when told to: for tests. Actions run in the order of their time, then of their making. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  #sequence = 0;
  readonly #startMs: number;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, action: () => void): Timer {
    const pending = { atMs: this.#elapsedMs + Math.max(0, delayMs), sequence: this.#sequence++, action };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  soon(action: () => void): void {
    this.after(0, action);
  }

  /** Runs all that falls due in the next `durationMs`, letting promises settle after each action. */
  async advance(durationMs: number): Promise<void> {
    const untilMs = this.#elapsedMs + durationMs;
    await settle();
    for (let next = this.#earliest(untilMs); next !== undefined; next = this.#earliest(untilMs)) {
      this.#pending.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.action();
      await settle();
    }
    this.#elapsedMs = untilMs;
  }

  #earliest(untilMs: number): Pending | undefined {
    let earliest: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.atMs > untilMs) continue;
      if (earliest && (earliest.atMs - pending.atMs || earliest.sequence - pending.sequence) <= 0) continue;
      earliest = pending;
    }
    return earliest;
  }
}

/** All promise reactions that are due run before the next macrotask does. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
