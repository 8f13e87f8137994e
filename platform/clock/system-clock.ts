import type { Clock, Timer } from './clock.ts';

/** The clock of the machine. Its timers keep no process alive: what must be waited for is awaited by its owner. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, action): Timer {
    const timer = setTimeout(action, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  soon(action) {
    setImmediate(action);
  },
};
