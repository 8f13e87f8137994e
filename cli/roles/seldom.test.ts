import { expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { seldom } from './seldom.ts';

it('passes the first on, and then one every 5 s, with the number of those left out', async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const tell = seldom(clock, (leftOut: number, what: string) => told.push(`${what}, ${leftOut} left out`));
  tell('first');
  tell('second');
  await clock.advance(4_999);
  tell('third');
  await clock.advance(1);
  tell('fourth');
  expect(told).toEqual(['first, 0 left out', 'fourth, 2 left out']);
});
