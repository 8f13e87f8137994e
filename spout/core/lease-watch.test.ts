import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { LeaseWatch } from './lease-watch.ts';

const settings = { maxLeases: 3, askAfterMs: 10_000, askTimeoutMs: 2_000, stuckMs: 600_000 };
const run = '1/mail/intake/a' as RunId;
const fence = { epoch: 1, version: 2 };
const moved = { epoch: 1, version: 3 };

describe('LeaseWatch', () => {
  it('asks the holder when a lease is met first', () => {
    expect(new LeaseWatch(settings).look(run, fence, 'reachable', 0)).toBe('ask');
  });

  it('looks again later when the fence moved', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    expect(watch.look(run, moved, 'reachable', 5_000)).toBe('wait');
    expect(watch.look(run, moved, 'reachable', 14_999)).toBe('wait');
    expect(watch.look(run, moved, 'reachable', 15_000)).toBe('ask');
  });

  it('asks again when no answer comes, and gives nothing away for that', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    expect(watch.look(run, fence, 'reachable', 1_999)).toBe('wait');
    expect(watch.look(run, fence, 'reachable', 2_000)).toBe('ask');
    expect(watch.look(run, fence, 'reachable', 500_000)).toBe('ask');
  });

  it('waits after a yes', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    expect(watch.answered(run, fence, true, 1_000)).toBe('wait');
    expect(watch.look(run, fence, 'reachable', 10_999)).toBe('wait');
    expect(watch.look(run, fence, 'reachable', 11_000)).toBe('ask');
  });

  it('offers after a no', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    expect(watch.answered(run, fence, false, 1_000)).toBe('offer');
  });

  it('offers at once when the holder is gone, even when the fence has just moved', () => {
    const watch = new LeaseWatch(settings);
    expect(watch.look(run, fence, 'gone', 0)).toBe('offer');
    expect(watch.look(run, moved, 'gone', 1)).toBe('offer');
  });

  it('waits for a holder that is there and cannot be asked', () => {
    const watch = new LeaseWatch(settings);
    expect(watch.look(run, fence, 'silent', 0)).toBe('wait');
    expect(watch.look(run, fence, 'silent', 599_999)).toBe('wait');
  });

  it('raises one alarm a fence, whether the holder says yes or nothing', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    watch.answered(run, fence, true, 599_000);
    expect(watch.look(run, fence, 'silent', 600_000)).toBe('alarm');
    expect(watch.look(run, fence, 'reachable', 700_000)).toBe('ask');
    expect(watch.look(run, moved, 'reachable', 700_001)).toBe('wait');
    expect(watch.look(run, moved, 'silent', 1_300_001)).toBe('alarm');
    watch.notAlarmed(run, moved);
    expect(watch.look(run, moved, 'silent', 1_300_002)).toBe('alarm');
  });

  it('forgets what a whole pass does not meet any more', () => {
    const watch = new LeaseWatch(settings);
    watch.look(run, fence, 'reachable', 0);
    watch.endPass(true);
    expect(watch.size).toBe(1);
    watch.endPass(false);
    expect(watch.size).toBe(1);
    watch.endPass(true);
    expect(watch.size).toBe(0);
  });

  it('forgets the oldest when there are too many', () => {
    const watch = new LeaseWatch(settings);
    for (const number of [1, 2, 3, 4]) watch.look(`1/m/f/${number}` as RunId, fence, 'silent', 0);
    expect(watch.size).toBe(3);
  });
});
