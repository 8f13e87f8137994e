import { describe, expect, it } from 'vitest';
import type { Clock } from '../../clock/clock.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import { Lease } from './lease.ts';

describe('Lease', () => {
  it('holds until its end, and tells of each change', async () => {
    const clock = new ManualClock();
    const seen: boolean[] = [];
    const lease: Lease = new Lease(clock, () => seen.push(lease.holds));
    expect(lease.holds).toBe(false);
    lease.prolong(100);
    await clock.advance(60);
    lease.prolong(150);
    await clock.advance(89);
    expect(lease.holds).toBe(true);
    await clock.advance(1);
    expect(lease.holds).toBe(false);
    await clock.advance(10);
    expect(seen).toEqual([true, false]);
  });

  it('can be ended, and begins in the past without a word', async () => {
    const clock = new ManualClock();
    let changes = 0;
    const lease = new Lease(clock, () => changes++);
    lease.prolong(100);
    lease.end();
    lease.end();
    await clock.advance(200);
    lease.prolong(150);
    expect(lease.holds).toBe(false);
    expect(changes).toBe(2);
  });

  it('tells of its end where timers run early', async () => {
    const clock = new ManualClock();
    const early: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, action) => clock.after(delayMs > 5 ? delayMs - 5 : delayMs, action),
      soon: (action) => clock.soon(action),
    };
    const seen: boolean[] = [];
    const lease: Lease = new Lease(early, () => seen.push(lease.holds));
    lease.prolong(100);
    await clock.advance(99);
    expect(seen).toEqual([true]);
    await clock.advance(1);
    expect(seen).toEqual([true, false]);
  });
});
