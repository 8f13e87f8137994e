// What is found out about a server when a process begins to use it.

import { describe, expect, it } from 'vitest';
import { openRedisRunLocks } from '../../../platform/coordination/redis/redis-run-locks.ts';
import { redisServer } from '../../../platform/coordination/redis/settings.ts';
import { command, ports, startServer, until } from './servers.ts';

const port = 27_261;
const plain = redisServer(`127.0.0.1:${port}`);

async function withServer(configuration: readonly string[], body: () => Promise<void>): Promise<void> {
  const server = await startServer(port, configuration);
  try {
    await body();
  } finally {
    await server.stop();
  }
}

describe('a process that begins to use Redis', () => {
  it('is told that the server evicts, and goes on where it does no more', async () => {
    await withServer(['maxmemory-policy allkeys-lru'], async () => {
      await expect(openRedisRunLocks(plain, {}, ports())).rejects.toThrow(
        `Redis at 127.0.0.1:${port}: maxmemory-policy is allkeys-lru, which drops locks that are held; allowed is noeviction`,
      );
      await command(port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      (await openRedisRunLocks(plain, {}, ports())).close();
    });
  });

  it('has no locks from a server that evicts since it was started again, until that is mended', async () => {
    const server = await startServer(port);
    const environment = ports();
    const locks = await openRedisRunLocks(plain, { recheckMs: 50 }, environment);
    try {
      await command(port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      await command(port, 'CLIENT', 'KILL', 'TYPE', 'normal');
      const told = 'maxmemory-policy is allkeys-lru';
      await until('it is told', () => environment.said.some((line) => line.includes(told)));
      expect(await locks.acquire('r', 'a', 1_000)).toEqual({ kind: 'unavailable' });
      await command(port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await until('locks are back', async () => (await locks.acquire('r', 'a', 1_000)).kind === 'acquired');
      expect(environment.said.filter((line) => line.includes(told))).toHaveLength(1);
    } finally {
      locks.close();
      await server.stop();
    }
  });

  it('begins without locks when nobody is there, and has them when somebody comes', async () => {
    const environment = ports();
    const locks = await openRedisRunLocks(plain, {}, environment);
    try {
      expect(await locks.acquire('r', 'a', 1_000)).toEqual({ kind: 'unavailable' });
      expect(environment.said.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1);
      await withServer([], () =>
        until('locks are there', async () => (await locks.acquire('r', 'a', 1_000)).kind === 'acquired'),
      );
    } finally {
      locks.close();
    }
  });

  it('goes on with a warning where it may not ask about the server', async () => {
    await withServer(['user weir on >sesame ~weir:lock:* +@all -info -config'], async () => {
      const environment = ports();
      const locks = await openRedisRunLocks(redisServer(`redis://weir:sesame@127.0.0.1:${port}`), {}, environment);
      expect(await locks.acquire('r', 'a', 1_000)).toEqual({ kind: 'acquired' });
      expect(environment.said.filter((line) => line.includes('see to it that it is'))).toHaveLength(1);
      locks.close();
    });
  });

  it('never says the password, and has locks when it becomes the right one', async () => {
    await withServer([], async () => {
      await command(port, 'CONFIG', 'SET', 'requirepass', 'sesame');
      const environment = ports();
      const wrong = redisServer(`redis://:open-quickly@127.0.0.1:${port}`);
      const locks = await openRedisRunLocks(wrong, { recheckMs: 50 }, environment);
      expect(await locks.acquire('r', 'a', 1_000)).toEqual({ kind: 'unavailable' });
      expect(environment.said.join('\n')).toContain('WRONGPASS');
      expect(environment.said.join('\n')).not.toContain('open-quickly');
      const right = await openRedisRunLocks(redisServer(`redis://:sesame@127.0.0.1:${port}/3`), {}, environment);
      expect(await right.acquire('r', 'a', 1_000)).toEqual({ kind: 'acquired' });
      locks.close();
      right.close();
    });
  });
});
