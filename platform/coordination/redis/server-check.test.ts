import { describe, expect, it } from 'vitest';
import { checkServer } from './server-check.ts';

const info = (values: Record<string, string>) =>
  `# Server\r\n${Object.entries({
    redis_version: '7.0.15',
    maxmemory_policy: 'noeviction',
    loading: '0',
    role: 'master',
    ...values,
  })
    .map(([name, value]) => `${name}:${value}\r\n`)
    .join('')}`;

describe('a Redis server', () => {
  it.each([{}, { redis_version: '6.2.0' }, { redis_version: '10.1' }])('may keep locks: %j', (values) => {
    expect(checkServer(info(values))).toEqual({ kind: 'fit' });
  });

  it('may keep locks when it hides what it is', () => {
    expect(checkServer('')).toEqual({ kind: 'fit' });
  });

  it.each([
    [{ redis_version: '6.0.16' }, 'redis_version is 6.0.16; allowed is 6.2 or later'],
    [{ redis_version: '5.0' }, 'redis_version is 5.0; allowed is 6.2 or later'],
    [
      { maxmemory_policy: 'volatile-ttl' },
      'maxmemory-policy is volatile-ttl, which drops locks that are held; allowed is noeviction',
    ],
    [{ cluster_enabled: '1' }, 'cluster-enabled is yes; allowed is no: a batch of locks has keys of all slots'],
  ])('is refused: %j', (values, problem) => {
    expect(checkServer(info(values))).toEqual({ kind: 'refused', problem });
  });

  it('is waited for while it loads, or is a replica', () => {
    expect(checkServer(info({ loading: '1' })).kind).toBe('not yet');
    expect(checkServer(info({ role: 'slave' })).kind).toBe('not yet');
  });
});
