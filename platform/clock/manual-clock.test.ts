import { describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.ts';

describe('ManualClock', () => {
  it('moves both its clocks, only when told to', async () => {
    const clock = new ManualClock(1_000);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_000, 0]);
    await clock.advance(250);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([1_250, 250]);
  });

  it('runs what falls due in the order of time, then of making, at its time', async () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.nowMs()}`);
    clock.after(20, note('late'));
    clock.after(10, note('first'));
    clock.after(10, note('second'));
    clock.after(31, note('never'));
    clock.soon(note('soon'));
    await clock.advance(30);
    expect(seen).toEqual(['soon@0', 'first@10', 'second@10', 'late@20']);
    expect(clock.nowMs()).toBe(30);
  });

  it('runs what an action or its promise makes, when it falls due too', async () => {
    const clock = new ManualClock(0);
    const seen: number[] = [];
    clock.after(10, () => {
      void Promise.resolve().then(() => clock.after(5, () => seen.push(clock.nowMs())));
      clock.after(-1, () => seen.push(clock.nowMs()));
    });
    await clock.advance(15);
    expect(seen).toEqual([10, 15]);
  });

  it('does not run what was cancelled', async () => {
    const clock = new ManualClock();
    const seen: string[] = [];
    const timer = clock.after(10, () => seen.push('cancelled'));
    clock.after(5, () => timer.cancel());
    await clock.advance(20);
    expect(seen).toEqual([]);
  });
});
