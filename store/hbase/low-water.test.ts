import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { LowWater } from './low-water.ts';

const row = (text: string) => Buffer.from(text);
const parts = [
  { begin: row('a'), end: row('b') },
  { begin: row('b'), end: row('c') },
];

function setUp() {
  const clock = new ManualClock();
  const lowWater = new LowWater(parts, { clock, maxHiddenMs: 60_000, quickMs: 20 });
  const begins = () => lowWater.begin().ranges.map(({ begin }) => begin.toString());
  /** A scan from the beginning that wastes so much. */
  const slowBefore = (tookMs: number) => {
    lowWater.begin();
    lowWater.took(tookMs, 0);
  };
  return { clock, lowWater, begins, slowBefore };
}

describe('low water', () => {
  it('while scans are quick, all begin at the beginning', () => {
    const { lowWater, begins } = setUp();
    lowWater.begin();
    lowWater.seen([row('a5'), row('b7')]);
    lowWater.took(10, 2);
    expect(begins()).toEqual(['a']);
  });

  it('of a slow shard is where entries were first seen, part by part', () => {
    const { lowWater, begins, slowBefore } = setUp();
    slowBefore(100);
    lowWater.begin();
    lowWater.seen([row('a5'), row('a6'), row('b7')]);
    lowWater.took(100, 3);
    expect(begins()).toEqual(['a5', 'b7']);
    lowWater.seen([row('a3')]);
    expect(begins()).toEqual(['a3', 'b7']);
  });

  it('what comes before all that was seen is looked at too: it is the most urgent', () => {
    const { lowWater, begins, slowBefore } = setUp();
    slowBefore(100);
    lowWater.begin();
    lowWater.seen([row('b7')]);
    lowWater.took(100, 1);
    expect(begins()).toEqual(['a', 'b7']);
  });

  it('one scan that was slow, since the server was away, hides nothing', () => {
    const { lowWater, begins } = setUp();
    lowWater.begin();
    lowWater.took(5, 0);
    lowWater.begin();
    lowWater.seen([row('a5')]);
    lowWater.took(5_000, 1);
    expect(begins()).toEqual(['a']);
    lowWater.took(5, 0);
    expect(begins()).toEqual(['a']);
  });

  it('what is read of live entries makes no scan slow', () => {
    const { lowWater, begins } = setUp();
    lowWater.begin();
    lowWater.took(500, 10_000);
    expect(begins()).toEqual(['a']);
  });

  it('drops to what this process writes', () => {
    const { lowWater, begins, slowBefore } = setUp();
    slowBefore(100);
    lowWater.begin();
    lowWater.seen([row('a5')]);
    lowWater.took(100, 1);
    expect(begins()).toEqual(['a5']);
    lowWater.written(row('a2'));
    expect(begins()).toEqual(['a2']);
    lowWater.written(row('b9'));
    expect(begins(), 'where nothing was seen, others may be before it').toEqual(['a2', 'b']);
  });

  it('scans from the beginning come again after fifty times what they wasted', async () => {
    const { clock, lowWater, begins, slowBefore } = setUp();
    slowBefore(100);
    lowWater.begin();
    lowWater.seen([row('a5')]);
    lowWater.took(100, 1);
    await clock.advance(4_900);
    expect(begins()).toEqual(['a5']);
    await clock.advance(100);
    expect(begins()).toEqual(['a']);
  });

  it('and within a minute, however slow they are', async () => {
    const { clock, lowWater, begins, slowBefore } = setUp();
    slowBefore(10_000);
    lowWater.begin();
    lowWater.seen([row('a5')]);
    lowWater.took(10_000, 1);
    await clock.advance(59_999);
    expect(begins()).toEqual(['a5']);
    await clock.advance(1);
    expect(begins()).toEqual(['a']);
  });

  it('rises when the first entries of the last two periods are gone', async () => {
    const { clock, lowWater, begins, slowBefore } = setUp();
    slowBefore(10_000);
    lowWater.begin();
    lowWater.seen([row('a1')]);
    lowWater.took(10_000, 1);
    await clock.advance(30_000);
    lowWater.seen([row('a4')]);
    expect(begins()).toEqual(['a1']);
    await clock.advance(29_999);
    lowWater.seen([row('a6')]);
    expect(begins()).toEqual(['a1']);
    await clock.advance(1);
    lowWater.begin();
    lowWater.seen([row('a6')]);
    lowWater.took(10_000, 1);
    expect(begins()).toEqual(['a4']);
  });
});
