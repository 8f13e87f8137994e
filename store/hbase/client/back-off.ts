import type { Clock } from '../../../platform/clock/clock.ts';

/** Half of a network round trip would be too eager, more than a second would outlast most moves of a region. */
const firstPauseMs = 20;
const maxPauseMs = 1_000;

/** Milliseconds to wait before the next try, after `failures` in a row (at least 1). `random` gives 0 to 1. */
export function pauseMs(failures: number, random: () => number): number {
  const full = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 16));
  return full * (0.5 + random() / 2);
}

export function delay(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
