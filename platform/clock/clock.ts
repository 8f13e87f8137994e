// The port to time. Everything that waits or looks at a clock does so through it, so that tests and the simulation own time.

export interface Clock {
  /** Wall clock: milliseconds since 1970. May jump; never used to judge who owns something. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
  /** Calls `action` once, `delayMs` from now. */
  after(delayMs: number, action: () => void): Timer;
  /** Calls `action` after the events that are due now: what gathers work of one turn into one batch. */
  soon(action: () => void): void;
}

export interface Timer {
  cancel(): void;
}
