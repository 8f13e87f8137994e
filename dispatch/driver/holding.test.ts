import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { InProcessRunLocks } from '../../platform/coordination/in-process-run-locks.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { dispatchDefaults } from '../settings.ts';
import { Holding, type Settled } from './holding.ts';
import type { DispatchPorts } from './ports.ts';

const self = { role: 'dispatch', processId: 'p', incarnation: 'i', address: '', unit: '', capacity: 512 } as const;
const run = '1/test/flow/a' as RunId;

function world(locksOf: (clock: ManualClock) => RunLocks, settings = {}) {
  const clock = new ManualClock();
  const locks = locksOf(clock);
  const ports = { clock, locks, store: new MemoryStore(), random: () => 0.5, onError: () => {} };
  const holding = new Holding(self, ports as unknown as DispatchPorts, { ...dispatchDefaults, ...settings });
  const settled: Settled[] = [];
  const offer = (id: RunId) => {
    const fence = { epoch: 0, version: 1 };
    return holding.offer({ run: id, fence, level: 5, bytes: 10, settled: (how) => settled.push(how) });
  };
  return { clock, locks, holding, settled, offer };
}

describe('runs that are offered', () => {
  it('are left to who has their lock, and free their place', async () => {
    const { clock, holding, locks, offer, settled } = world((time) => new InProcessRunLocks(time));
    await locks.acquire(run, 'other', 5_000);
    await clock.advance(1_000);
    expect(offer(run)).toBe('queued');
    await clock.advance(0);
    expect(settled).toEqual([{ busyForMs: 4_000 }]);
    expect(holding.room.taken).toBe(0);
  });

  it('keep their place while they wait because locks are away, and hold up no drain', async () => {
    const away: RunLocks = {
      acquire: async () => ({ kind: 'unavailable' }),
      renew: async () => [],
      release: async () => {},
    };
    const { clock, holding, offer, settled } = world(() => away, { unlockedClaimsPerSecond: 1 });
    for (const key of ['a', 'b', 'c']) offer(`1/test/flow/${key}` as RunId);
    await clock.advance(10);
    expect(settled, 'there was nothing to claim').toEqual(['gone']);
    expect(holding.room.taken).toBe(2);
    await holding.drain();
    expect(settled).toEqual(['gone', 'gone', 'gone']);
  });
});
