import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { NoAnswerError } from './connection.ts';
import { RedisRunLocks, type ScriptRunner } from './redis-run-locks.ts';
import { redisSettings } from './settings.ts';

interface Call {
  readonly script: string;
  readonly keys: readonly string[];
  readonly values: ReadonlyArray<string | number>;
  readonly answer: (result: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** Answers when the test says so. */
class HeldBack implements ScriptRunner {
  isReady = true;
  readonly calls: Call[] = [];

  run(script: string, keys: readonly string[], values: ReadonlyArray<string | number>): Promise<unknown> {
    return new Promise((answer, fail) => this.calls.push({ script, keys, values, answer, fail }));
  }

  close(): void {}

  next(): Call {
    const call = this.calls.shift();
    if (!call) throw new Error('nothing was asked');
    return call;
  }
}

function world({ maxBatch = 256, maxWaiting = 10 } = {}) {
  const clock = new ManualClock();
  const redis = new HeldBack();
  const warnings: string[] = [];
  const logger = { warn: (message: string) => warnings.push(message) } as unknown as Logger;
  const locks = new RedisRunLocks(redis, redisSettings({ keyPrefix: 'p:', maxBatch, maxWaiting }), { clock, logger });
  const acquired = async (run: string, ttlMs = 1_000) => {
    const taken = locks.acquire(run, 'me', ttlMs);
    await clock.advance(0);
    redis.next().answer([0]);
    expect(await taken).toEqual({ kind: 'acquired' });
  };
  return { clock, redis, locks, warnings, acquired };
}

describe('run locks on Redis', () => {
  it('send what is acquired in one turn in one call, no larger than allowed', async () => {
    const { clock, redis, locks } = world({ maxBatch: 2 });
    const results = ['a', 'b', 'c'].map((run) => locks.acquire(run, 'me', 500));
    expect(redis.calls).toHaveLength(0);
    await clock.advance(0);
    const [first, second] = [redis.next(), redis.next()];
    expect(first).toMatchObject({ script: 'acquire', keys: ['p:a', 'p:b'], values: ['me', 500, 'me', 500] });
    expect(second.keys).toEqual(['p:c']);
    second.answer([0]);
    first.answer([0, 321]);
    expect(await Promise.all(results)).toEqual([
      { kind: 'acquired' },
      { kind: 'held', remainingMs: 321 },
      { kind: 'acquired' },
    ]);
  });

  it('send releases before acquisitions of the same turn, in one call for each owner', async () => {
    const { clock, redis, locks } = world();
    void locks.acquire('a', 'me', 500);
    void locks.release(['a'], 'you');
    void locks.release(['b'], 'you');
    await clock.advance(0);
    expect(redis.calls.map(({ script, keys }) => [script, ...keys])).toEqual([
      ['release', 'p:a', 'p:b'],
      ['acquire', 'p:a'],
    ]);
  });

  it('are unavailable at once while Redis is away, or when too many wait', async () => {
    const { redis, locks } = world({ maxWaiting: 1 });
    redis.isReady = false;
    expect(await locks.acquire('a', 'me', 500)).toEqual({ kind: 'unavailable' });
    await locks.release(['a'], 'me');
    expect(await locks.renew(['a'], 'me', 500)).toEqual(['a']);
    redis.isReady = true;
    void locks.acquire('a', 'me', 500);
    expect(await locks.acquire('b', 'me', 500)).toEqual({ kind: 'unavailable' });
    expect(redis.calls).toHaveLength(0);
  });

  it('are unavailable when no answer comes, and say once that Redis refuses', async () => {
    const { clock, redis, locks, warnings } = world();
    for (const run of ['a', 'b']) {
      const result = locks.acquire(run, 'me', 500);
      await clock.advance(0);
      redis.next().fail(new NoAnswerError('OOM'));
      expect(await result).toEqual({ kind: 'unavailable' });
    }
    expect(warnings).toEqual(['Redis refuses run locks']);
  });

  it('are not acquired by an answer that comes after their end', async () => {
    const { clock, redis, locks } = world();
    const late = locks.acquire('a', 'me', 500);
    await clock.advance(500);
    redis.next().answer([0]);
    expect(await late).toEqual({ kind: 'unavailable' });
    expect(await locks.renew(['a'], 'me', 500)).toEqual(['a']);
    expect(redis.calls).toHaveLength(0);
  });

  it('are ours from when they were asked for, not from the answer', async () => {
    const { clock, redis, locks } = world();
    const taken = locks.acquire('a', 'me', 1_000);
    await clock.advance(600);
    redis.next().answer([0]);
    await taken;
    await clock.advance(400);
    expect(await locks.renew(['a'], 'me', 1_000)).toEqual(['a']);
  });

  it('are lost when Redis says so, or when no renewal was confirmed in time', async () => {
    const { clock, redis, locks, acquired } = world();
    for (const run of ['a', 'b', 'short']) await acquired(run, run === 'short' ? 300 : 1_000);
    const first = locks.renew(['a', 'b', 'short', 'never'], 'me', 1_000);
    expect(redis.calls[0]).toMatchObject({ script: 'renew', keys: ['p:a', 'p:b', 'p:short'], values: ['me', 1_000] });
    await clock.advance(400);
    redis.next().answer([2]);
    expect(await first).toEqual(['b', 'short', 'never']);
    // Prolonged from when it was asked for: 1,000, now 400.
    const second = locks.renew(['a'], 'me', 1_000);
    redis.next().fail(new NoAnswerError('Command timed out'));
    expect(await second, 'its time is not over').toEqual([]);
    await clock.advance(599);
    const third = locks.renew(['a'], 'me', 1_000);
    await clock.advance(1);
    redis.next().answer([]);
    expect(await third, 'confirmed too late').toEqual(['a']);
  });
});
