import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedisRunLocks, type RedisRunLocks } from '../../../platform/coordination/redis/redis-run-locks.ts';
import { redisServer } from '../../../platform/coordination/redis/settings.ts';
import type { RunLocks } from '../../../platform/coordination/run-locks.ts';
import type { Instance } from '../../../scripts/services/instance.ts';
import { runLocksContract } from '../../contract/coordination.contract.ts';
import { command, ports, startServer, until } from './servers.ts';

const port = 27_260;
let server: Instance;
let locks: RedisRunLocks;
let environment: ReturnType<typeof ports>;

beforeAll(async () => {
  server = await startServer(port);
  environment = ports();
  // Short, so that a frozen server is found out soon.
  locks = await openRedisRunLocks(redisServer(server.address), { commandTimeoutMs: 500 }, environment);
});

afterAll(async () => {
  locks?.close();
  await server?.stop();
});

beforeEach(async () => {
  await command(port, 'FLUSHALL');
});

const isAvailable = async (subject: RunLocks) => (await subject.acquire('probe', 'a', 1_000)).kind !== 'unavailable';

runLocksContract('redis', () => ({ subject: locks, pass: (durationMs) => delay(durationMs) }), 300);

describe('run locks on a real Redis', () => {
  it('stay within their prefix, end by themselves, and survive the loss of the scripts', async () => {
    await locks.acquire('1/mail/in/\u00e9', 'a', 5_000);
    expect(await command(port, 'KEYS', '*')).toEqual(['weir:lock:1/mail/in/\u00e9']);
    const leftMs = Number(await command(port, 'PTTL', 'weir:lock:1/mail/in/\u00e9'));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(5_000);
    await command(port, 'SCRIPT', 'FLUSH');
    expect(await locks.acquire('1/mail/in/\u00e9', 'b', 5_000)).toMatchObject({ kind: 'held' });
    expect(await locks.renew(['1/mail/in/\u00e9'], 'a', 5_000)).toEqual([]);
  });

  it('take over a key that would hold a run for ever', async () => {
    await command(port, 'SET', 'weir:lock:r', 'somebody');
    expect(await locks.acquire('r', 'a', 5_000)).toEqual({ kind: 'acquired' });
    expect(Number(await command(port, 'PTTL', 'weir:lock:r'))).toBeGreaterThan(0);
  });

  it('are lost, and can be taken, when Redis forgets everything', async () => {
    await locks.acquire('r', 'a', 60_000);
    await command(port, 'FLUSHALL');
    expect(await locks.renew(['r'], 'a', 60_000)).toEqual(['r']);
    expect(await locks.acquire('r', 'b', 60_000)).toEqual({ kind: 'acquired' });
  });

  it('are unavailable while Redis is frozen, at once after the first time-out, and back when it goes on', async () => {
    await locks.acquire('r', 'a', 60_000);
    environment.said.length = 0;
    server.freeze();
    try {
      const many = Array.from({ length: 1_000 }, (_, index) => locks.acquire(`f${index}`, 'a', 1_000));
      expect(new Set((await Promise.all(many)).map(({ kind }) => kind))).toEqual(new Set(['unavailable']));
      for (let call = 0; call < 10_000; call++) await locks.acquire('r2', 'a', 1_000);
      expect(await locks.renew(['r'], 'a', 60_000)).toEqual([]);
      await locks.release(['r2'], 'a');
    } finally {
      server.thaw();
    }
    await until('locks are back', () => isAvailable(locks));
    expect(await locks.acquire('r', 'b', 1_000)).toMatchObject({ kind: 'held' });
    expect(environment.said.filter((line) => line.includes('away'))).toHaveLength(1);
    expect(environment.said.filter((line) => line.includes('answers again'))).toHaveLength(1);
  });

  it('are unavailable while Redis is dead, and back, without the old ones, when it is started again', async () => {
    await locks.acquire('r', 'a', 60_000);
    await server.kill();
    await until('it is noticed', async () => !(await isAvailable(locks)));
    expect(await locks.renew(['r'], 'a', 60_000)).toEqual([]);
    await locks.release(['other'], 'a');
    await server.restart();
    await until('locks are back', () => isAvailable(locks));
    expect(await locks.renew(['r'], 'a', 60_000)).toEqual(['r']);
    expect(await locks.acquire('r', 'b', 60_000)).toEqual({ kind: 'acquired' });
  });

  it('never have two owners at a time while two race for 1,000 of them', async () => {
    const other = await openRedisRunLocks(redisServer(server.address), {}, ports());
    try {
      const owners = [
        { name: 'one', subject: locks },
        { name: 'two', subject: other },
      ];
      const holders = new Map<string, string>();
      let taken = 0;
      const race = owners.flatMap(({ name, subject }) =>
        Array.from({ length: 1_000 }, async (_, index) => {
          const run = `race-${(index * 7) % 1_000}`;
          for (let round = 0; round < 5; round++) {
            if ((await subject.acquire(run, name, 30_000)).kind !== 'acquired') continue;
            expect(holders.get(run)).toBeUndefined();
            holders.set(run, name);
            taken++;
            await new Promise((resolve) => setImmediate(resolve));
            holders.delete(run);
            await subject.release([run], name);
          }
        }),
      );
      await Promise.all(race);
      expect(taken).toBeGreaterThan(1_000);
    } finally {
      other.close();
    }
  });
});
