import { describe, expect, it } from 'vitest';
import { DurationSample } from './duration-sample.ts';

const never = () => {
  throw new Error('nothing to choose');
};

describe('DurationSample', () => {
  it('is exact while it keeps all', () => {
    const sample = new DurationSample(100, never);
    for (let duration = 100; duration >= 1; duration--) sample.add(duration);
    expect(sample.percentiles([0.5, 0.99, 1])).toEqual([50, 99, 100]);
  });

  it('knows nothing of nothing', () => {
    expect(new DurationSample(10, never).percentiles([0.5, 0.99])).toEqual([0, 0]);
  });

  it('gives one for all', () => {
    const sample = new DurationSample(10, never);
    sample.add(7);
    expect(sample.percentiles([0.5, 0.99])).toEqual([7, 7]);
  });

  it('keeps a bounded sample of many', () => {
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const sample = new DurationSample(1_000, random);
    for (let duration = 1; duration <= 100_000; duration++) sample.add(duration);
    const [median = 0] = sample.percentiles([0.5]);
    expect(Math.abs(median - 50_000)).toBeLessThan(5_000);
  });
});
