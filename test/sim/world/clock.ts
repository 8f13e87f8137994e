// The clock of one start of one process. All that a process does it does when its clock says so: when it dies its timers are gone,
// and so is whatever they would have done; when it is paused they are late.

import type { Clock, Timer } from '../../../platform/clock/clock.ts';
import type { VirtualTime } from './time.ts';

/** The wall clock of a machine: it outlives the processes there, and somebody may set it. */
export interface WallClock {
  /** By how much it is ahead, in ms. */
  aheadMs: number;
}

export class ProcessClock implements Clock {
  readonly #time: VirtualTime;
  readonly #wall: WallClock;
  readonly #startedMs: number;
  #running = true;
  #pausedUntilMs = 0;

  constructor(time: VirtualTime, wall: WallClock) {
    this.#time = time;
    this.#wall = wall;
    this.#startedMs = time.elapsedMs;
  }

  get running(): boolean {
    return this.#running;
  }

  get isPaused(): boolean {
    return this.#time.elapsedMs < this.#pausedUntilMs;
  }

  nowMs(): number {
    return this.#time.wallMs + this.#wall.aheadMs;
  }

  monotonicMs(): number {
    return this.#time.elapsedMs - this.#startedMs;
  }

  after(delayMs: number, action: () => void): Timer {
    if (!this.#running) return { cancel: () => {} };
    let cancelled = false;
    const fall = () => {
      if (!this.#running || cancelled) return;
      if (this.isPaused) this.#time.after(this.#pausedUntilMs - this.#time.elapsedMs, fall);
      else action();
    };
    this.#time.after(delayMs, fall);
    return { cancel: () => (cancelled = true) };
  }

  readonly soon = (action: () => void): void => {
    this.after(0, action);
  };

  /** The process stands still. What falls due meanwhile happens afterwards, in order. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = this.#time.elapsedMs + durationMs;
  }

  /** The process is dead. */
  stop(): void {
    this.#running = false;
  }
}
