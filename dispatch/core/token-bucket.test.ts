import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

const taken = (bucket: TokenBucket, nowMs: number) => {
  let count = 0;
  while (bucket.take(nowMs) === 0) count++;
  return count;
};

describe('a token bucket', () => {
  it('gives a burst, then its rate', () => {
    const bucket = new TokenBucket({ perSecond: 200, burst: 20 });
    expect(taken(bucket, 1_000)).toBe(20);
    expect(bucket.take(1_000)).toBe(5);
    expect(bucket.take(1_003)).toBe(2);
    expect(taken(bucket, 1_005)).toBe(1);
    expect(taken(bucket, 1_055)).toBe(10);
    expect(taken(bucket, 60_000)).toBe(20);
  });

  it('gives exactly its rate to whoever comes when it says', () => {
    for (const perSecond of [1, 3, 7, 200, 999]) {
      const bucket = new TokenBucket({ perSecond, burst: 1 });
      let nowMs = 0;
      let count = 0;
      while (nowMs < 60_000) {
        const waitMs = bucket.take(nowMs);
        if (waitMs === 0) count++;
        nowMs += waitMs;
      }
      expect(count).toBeLessThanOrEqual(60 * perSecond + 1);
      // What a whole millisecond rounds up is kept for the next, up to the burst.
      expect(count).toBeGreaterThan(60 * perSecond * 0.5);
    }
  });

  it('gives nothing for time that goes back', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 });
    expect(bucket.take(1_000)).toBe(0);
    expect(bucket.take(500)).toBe(100);
    expect(bucket.take(1_050)).toBe(50);
  });
});
