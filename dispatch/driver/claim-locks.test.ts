import { describe, expect, it } from 'vitest';
import type { RunId } from '../../flow/run.ts';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import type { LockResult, RunLocks } from '../../platform/coordination/run-locks.ts';
import { ClaimLocks, type Permission } from './claim-locks.ts';
import type { LocksChange } from './ports.ts';

class ScriptedLocks implements RunLocks {
  answer: LockResult = { kind: 'acquired' };
  lost: readonly string[] = [];
  readonly calls: string[] = [];

  async acquire(run: string): Promise<LockResult> {
    this.calls.push(`acquire ${run}`);
    return this.answer;
  }

  async renew(runs: readonly string[]): Promise<readonly string[]> {
    this.calls.push(`renew ${runs.join(' ')}`);
    return this.lost;
  }

  async release(runs: readonly string[]): Promise<void> {
    this.calls.push(`release ${runs.join(' ')}`);
  }
}

function world(unlockedClaimsPerSecond = 10) {
  const clock = new ManualClock();
  const locks = new ScriptedLocks();
  const changes: LocksChange[] = [];
  const errors: unknown[] = [];
  const claims = new ClaimLocks(
    'me',
    { clock, locks, onError: (error) => errors.push(error), onLocks: (change) => changes.push(change) },
    { lockTtlMs: 15_000, unlockedClaimsPerSecond },
  );
  const settled: Array<readonly [string, Permission['kind']]> = [];
  const take = (...runs: string[]) => {
    for (const run of runs) void claims.take(run as RunId).then(({ kind }) => settled.push([run, kind]));
  };
  return { clock, locks, changes, errors, claims, settled, take };
}

describe('locks of claims', () => {
  it('say for how long another has the run', async () => {
    const { claims, locks } = world();
    locks.answer = { kind: 'held', remainingMs: 700 };
    expect(await claims.take('a' as RunId)).toEqual({ kind: 'busy', forMs: 700 });
  });

  it('are renewed at a third of their time, until they are lost or given back', async () => {
    const { claims, clock, locks, take } = world();
    take('a', 'b', 'c');
    await clock.advance(0);
    locks.calls.length = 0;
    claims.release('c' as RunId, false);
    locks.lost = ['b'];
    await clock.advance(10_000);
    claims.release('a' as RunId, true);
    claims.release('b' as RunId, true);
    await clock.advance(5_000);
    claims.close();
    await clock.advance(60_000);
    expect(locks.calls).toEqual(['renew a b', 'renew a', 'release a']);
  });

  it('are done without at a limited rate while nobody answers, in order, which is told once', async () => {
    const { claims, clock, locks, changes, settled, take } = world(10);
    locks.answer = { kind: 'unavailable' };
    take('a', 'b', 'c', 'd');
    await clock.advance(0);
    expect(settled).toEqual([['a', 'claim']]);
    await clock.advance(99);
    expect(settled).toHaveLength(1);
    await clock.advance(101);
    expect(settled.map(([run]) => run)).toEqual(['a', 'b', 'c']);
    expect(changes).toEqual([{ kind: 'away' }]);
    expect(claims.unlockedClaims).toBe(3);
  });

  it('are asked for by all that wait as soon as somebody answers, which is told once', async () => {
    const { clock, locks, changes, settled, take } = world(1);
    locks.answer = { kind: 'unavailable' };
    take('a', 'b', 'c');
    await clock.advance(10);
    expect(settled).toHaveLength(1);
    locks.answer = { kind: 'acquired' };
    take('d');
    await clock.advance(0);
    expect(settled.map(([run]) => run).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(changes).toEqual([{ kind: 'away' }, { kind: 'back', awayMs: 10, unlockedClaims: 1 }]);
  });

  it('are given back also when nobody answered: they may have been taken', async () => {
    const { claims, clock, locks, take } = world();
    locks.answer = { kind: 'unavailable' };
    take('a');
    await clock.advance(0);
    claims.release('a' as RunId, true);
    expect(locks.calls).toEqual(['acquire a', 'release a']);
  });

  it('keep nobody waiting who stops', async () => {
    const { claims, clock, locks, settled, take } = world(1);
    locks.answer = { kind: 'unavailable' };
    take('a', 'b');
    await clock.advance(0);
    claims.stopWaiting();
    take('c');
    await clock.advance(0);
    expect(settled).toEqual([
      ['a', 'claim'],
      ['b', 'stopped'],
      ['c', 'stopped'],
    ]);
  });
});
