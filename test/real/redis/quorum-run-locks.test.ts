import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openQuorumRunLocks, type QuorumRunLocks } from '../../../platform/coordination/redis/quorum-run-locks.ts';
import { redisServer } from '../../../platform/coordination/redis/settings.ts';
import type { Instance } from '../../../scripts/services/instance.ts';
import { runLocksContract } from '../../contract/coordination.contract.ts';
import { command, ports, startServer, until } from './servers.ts';

const places = [27_262, 27_263, 27_264];
let servers: Instance[] = [];
let locks: QuorumRunLocks;

const open = () =>
  openQuorumRunLocks(
    places.map((port) => redisServer(`127.0.0.1:${port}`)),
    { commandTimeoutMs: 500 },
    ports(),
  );

beforeAll(async () => {
  servers = await Promise.all(places.map((port) => startServer(port)));
  locks = await open();
});

afterAll(async () => {
  locks?.close();
  for (const server of servers) await server.stop();
});

beforeEach(async () => {
  await Promise.all(places.map((port) => command(port, 'FLUSHALL')));
});

/** Until a lock that is taken lies on each server. */
async function allVote(): Promise<void> {
  await until('all servers vote', async () => {
    await locks.acquire('vote', 'a', 30_000);
    const votes = await Promise.all(places.map((port) => command(port, 'EXISTS', 'weir:lock:vote')));
    await locks.release(['vote'], 'a');
    return votes.every((vote) => vote === 1);
  });
}

runLocksContract('three redis', () => ({ subject: locks, pass: (durationMs) => delay(durationMs) }), 300);

describe('run locks on three real Redis servers', () => {
  it('outlive the death of one, empty when it comes back, but not of two', async () => {
    const [first, second] = servers as [Instance, Instance, Instance];
    const acquire = (run: string, owner: string) => locks.acquire(run, owner, 30_000);
    expect(await acquire('r', 'a')).toEqual({ kind: 'acquired' });
    await first.kill();
    expect(await acquire('r', 'b')).toMatchObject({ kind: 'held' });
    expect(await acquire('s', 'b')).toEqual({ kind: 'acquired' });
    expect(await locks.renew(['r', 's'], 'a', 30_000)).toEqual(['s']);
    await first.restart();
    expect(await acquire('r', 'b')).toMatchObject({ kind: 'held' });
    await allVote();

    await first.kill();
    await second.kill();
    await until('it is noticed', async () => (await acquire('u', 'a')).kind === 'unavailable');
    expect(await locks.renew(['r'], 'a', 30_000)).toEqual(['r']);
    await locks.release(['s'], 'b');
    await first.restart();
    await second.restart();
    await allVote();
    expect(await acquire('v', 'a')).toEqual({ kind: 'acquired' });
  });

  it('go on, once it is known, when one is frozen', async () => {
    const third = servers[2]!;
    third.freeze();
    try {
      expect(await locks.acquire('r', 'a', 30_000)).toEqual({ kind: 'acquired' });
      for (let run = 0; run < 1_000; run++) {
        expect(await locks.acquire(`f${run}`, 'a', 30_000)).toEqual({ kind: 'acquired' });
      }
    } finally {
      third.thaw();
    }
  });

  it('never have two owners at a time while two race', async () => {
    const other = await open();
    try {
      const holders = new Set<string>();
      let taken = 0;
      const racers = [
        { name: 'one', subject: locks },
        { name: 'two', subject: other },
      ].flatMap(({ name, subject }) =>
        Array.from({ length: 200 }, async (_, index) => {
          for (let round = 0; round < 3; round++) {
            const run = `race-${index}`;
            if ((await subject.acquire(run, name, 30_000)).kind !== 'acquired') continue;
            expect(holders.has(run)).toBe(false);
            holders.add(run);
            taken++;
            await new Promise((resolve) => setImmediate(resolve));
            holders.delete(run);
            await subject.release([run], name);
          }
        }),
      );
      await Promise.all(racers);
      expect(taken).toBeGreaterThan(0);
    } finally {
      other.close();
    }
  });

  it('are refused of an even number, or of one server twice', async () => {
    const of = (...addresses: string[]) => openQuorumRunLocks(addresses.map(redisServer), {}, ports());
    await expect(of('a:1', 'b:1')).rejects.toThrow('2 Redis servers; allowed is an odd number from 3 to 9');
    await expect(of('a:1', 'b:1', 'a:1')).rejects.toThrow('a:1 is named twice');
  });
});
