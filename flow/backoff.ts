// How long a step sleeps before it is called again.

/** Full jitter: random in [0, min(max, first × 2^(n-1))] ms before the n-th repetition, n from 1. */
export function retryBackoffMs(repetition: number, firstMs: number, maxMs: number, random: () => number): number {
  return Math.round(random() * Math.min(maxMs, firstMs * 2 ** (repetition - 1)));
}

/** First pause after an answer that declined, in ms: long enough for a place to become free. */
const firstDeclineMs = 200;
/** Longest pause after an answer that declined, in ms: what a module that comes back waits for its work, at most. */
const maxDeclineMs = 10_000;

/**
 * The pause after the n-th call in this round that everybody declined, n from 1. At least half of the full pause, since a module that is
 * overloaded gains nothing from being asked at once.
 */
export function declineBackoffMs(repetition: number, random: () => number): number {
  const full = Math.min(maxDeclineMs, firstDeclineMs * 2 ** Math.min(repetition - 1, 16));
  return Math.round(full * (0.5 + random() / 2));
}
