import { describe, expect, it } from 'vitest';
import { declineBackoffMs, retryBackoffMs } from './backoff.ts';

describe('backoff', () => {
  it('of retries doubles from the first pause to the longest, with full jitter', () => {
    const full = [1, 2, 3, 4, 5].map((repetition) => retryBackoffMs(repetition, 200, 1_000, () => 1));
    expect(full).toEqual([200, 400, 800, 1_000, 1_000]);
    expect(retryBackoffMs(3, 200, 1_000, () => 0)).toBe(0);
  });

  it('after declined answers is at least half of the full pause, and bounded however often it happens', () => {
    expect(declineBackoffMs(1, () => 0)).toBe(100);
    expect(declineBackoffMs(1, () => 1)).toBe(200);
    expect(declineBackoffMs(5_000, () => 1)).toBe(10_000);
  });
});
