// A rate that allows short bursts. Time comes in with each call.

export interface TokenBucketSettings {
  readonly perSecond: number;
  /** What may be taken at once after a pause; at least 1. */
  readonly burst: number;
}

/** Sums of fractions come out a little short of the whole. */
const tolerance = 1e-6;

export class TokenBucket {
  readonly #settings: TokenBucketSettings;
  #tokens: number;
  #atMs = Number.NEGATIVE_INFINITY;

  constructor(settings: TokenBucketSettings) {
    this.#settings = settings;
    this.#tokens = settings.burst;
  }

  /** Takes one at a monotonic time. Answers 0, or in how many ms there will be one to take. */
  take(nowMs: number): number {
    const { perSecond, burst } = this.#settings;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1_000);
    this.#atMs = Math.max(this.#atMs, nowMs);
    if (this.#tokens >= 1 - tolerance) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - this.#tokens) * 1_000) / perSecond - tolerance));
  }
}
