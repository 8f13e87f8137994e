import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Environment, readClusterFile } from './cluster-file.ts';

const services = `
zookeeper: { servers: ['127.0.0.1:27210'] }
redis: { servers: ['127.0.0.1:27220'] }
hbase: { servers: ['127.0.0.1:27231'] }
`;

function settings(text: string, environment: Environment = {}) {
  const reading = readClusterFile(text, environment);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.settings;
}

/** `line path: message`; a variable's problem has no line. */
function problems(text: string, environment: Environment = {}): readonly string[] {
  const reading = readClusterFile(text, environment);
  if (reading.ok) return [];
  return reading.problems.map(
    ({ line, path, message }) => `${line > 0 ? `${line} ` : ''}${path === '' ? '' : `${path}: `}${message}`,
  );
}

describe('a cluster file', () => {
  it('needs the services only; the rest has defaults', () => {
    expect(settings(services)).toMatchObject({
      unit: '',
      zookeeper: { servers: ['127.0.0.1:27210'], root: '/weir', sessionMs: 6_000 },
      redis: { servers: ['127.0.0.1:27220'] },
      hbase: { servers: ['127.0.0.1:27231'], table: 'weir' },
      dispatch: { address: '127.0.0.1:27100', maxRuns: 512 },
      spout: { address: '127.0.0.1:0', weight: 1, graceMs: 12_000 },
      directory: { modules: [], register: [] },
    });
  });

  it('has modules as a file of modules has them', () => {
    const { directory } = settings(`${services}modules: { mail.parse: { endpoints: ['127.0.0.1:27101'] } }`);
    expect(directory.modules.map(({ name }) => name)).toEqual(['mail.parse']);
  });

  it('is overridden by the environment', () => {
    const environment = {
      WEIR_ZOOKEEPER_SERVERS: '10.0.0.1:2181, 10.0.0.2:2181',
      WEIR_DISPATCH_MAX_RUNS: '64',
      WEIR_UNIT: 'eu-1',
    };
    expect(settings(services, environment)).toMatchObject({
      unit: 'eu-1',
      zookeeper: { servers: ['10.0.0.1:2181', '10.0.0.2:2181'] },
      dispatch: { maxRuns: 64 },
    });
    expect(
      settings('unit: eu-2', { ...environment, WEIR_REDIS_SERVERS: 'r:1', WEIR_HBASE_SERVERS: 'h:1' }),
    ).toMatchObject({
      redis: { servers: ['r:1'] },
      hbase: { servers: ['h:1'] },
    });
  });

  it('says what is absent, and how to give it', () => {
    expect(problems('unit: eu-1')).toEqual([
      '1 zookeeper.servers is absent; give it here or as WEIR_ZOOKEEPER_SERVERS',
      '1 redis.servers is absent; give it here or as WEIR_REDIS_SERVERS',
      '1 hbase.servers is absent; give it here or as WEIR_HBASE_SERVERS',
    ]);
  });

  it.each<[string, Environment, string[]]>([
    ['unit: "a b"', {}, ['5 unit: "a b" is not allowed; allowed is up to 64 letters, digits, dots, - and _']],
    [
      'dispatch: { address: nowhere }',
      {},
      ['5 dispatch.address: "nowhere" is no address; allowed is host:port with a port from 0 to 65535'],
    ],
    ['spout: { weight: 0 }', {}, ['5 spout.weight: 0 is not a whole number from 1 to 100']],
    [
      'spouts: {}',
      {},
      [
        '5 spouts: is unknown; allowed are unit, cache, zookeeper, redis, hbase, dispatch, spout, modules, register, addresses',
      ],
    ],
    ['', { WEIR_SPOUT_WEIGHT: 'two' }, ['WEIR_SPOUT_WEIGHT: "two" is not a whole number from 1 to 100']],
    [
      '',
      { WEIR_HBASE_SERVERS: 'a:1,a:1,b' },
      [
        'WEIR_HBASE_SERVERS[1]: a:1 is there twice',
        'WEIR_HBASE_SERVERS[2]: "b" is no address; allowed is host:port with a port from 1 to 65535',
      ],
    ],
    [
      '',
      { WEIR_REDIS_SERVERS: 'a:1,b:1' },
      ['WEIR_REDIS_SERVERS: 2 servers; allowed is one, or an odd number of independent ones'],
    ],
  ])('refuses %j with %j', (text, environment, expected) => {
    expect(problems(`${services}${text}`, environment)).toEqual(expected);
  });

  it.each<[string, Environment, string]>([
    [
      'spout:\n  grace_ms: 9000',
      {},
      '6 spout.grace_ms: 9000 ms is less than two sessions of zookeeper.session_ms (default), which is 6000: a holder that reconnects in time would lose its runs',
    ],
    [
      'dispatch: { address: "127.0.0.1:27100" }\nspout: { address: "127.0.0.1:27100" }',
      {},
      '6 spout.address: 127.0.0.1:27100 is also dispatch.address (line 5)',
    ],
    [
      'dispatch: { address: "0.0.0.0:27100" }',
      {},
      '5 dispatch.address: 0.0.0.0:27100 is no address that spouts can find; give dispatch.advertise (default) beside it',
    ],
    [
      'dispatch: { address: "0.0.0.0:0" }',
      { WEIR_DISPATCH_ADVERTISE: '10.0.0.1:27100' },
      'WEIR_DISPATCH_ADVERTISE: 10.0.0.1:27100 is told to spouts, but dispatch.address (line 5) takes whichever port is free',
    ],
  ])('refuses what contradicts itself, and names both places: %j', (text, environment, expected) => {
    expect(problems(`${services}${text}`, environment)).toEqual([expected]);
  });
});

describe('a secret', () => {
  const redis = (password: string) => services.replace("27220']", `27220'], password: ${password}`);

  it('is taken from the environment or a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-secret-'));
    try {
      const file = join(folder, 'redis');
      writeFileSync(file, 'sesame\n');
      expect(settings(redis(`{ file: ${file} }`)).redis.password).toBe('sesame');
      expect(settings(redis('{ env: REDIS_SECRET }'), { REDIS_SECRET: 'open' }).redis.password).toBe('open');
      writeFileSync(file, '');
      expect(problems(redis(`{ file: ${file} }`))).toEqual([`3 redis.password.file: ${file} is empty`]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    ['sesame', '3 redis.password: a secret is not written here; allowed is { env: NAME } or { file: PATH }'],
    ['8675309', '3 redis.password: a secret is not written here; allowed is { env: NAME } or { file: PATH }'],
    ['{ env: NONE }', '3 redis.password.env: the variable "NONE" is not set'],
    ['{}', '3 redis.password: neither env nor file is given; allowed is { env: NAME } or { file: PATH }'],
    [
      '{ env: A, file: b }',
      '3 redis.password: both env and file are given; allowed is { env: NAME } or { file: PATH }',
    ],
  ])('is given by reference only: %s', (written, expected) => {
    const found = problems(redis(written));
    expect(found).toEqual([expected]);
    expect(found.join()).not.toContain('sesame');
  });
});

describe('servers of HBase that are reached through a tunnel', () => {
  const hbase = (via: string) => services.replace("27231']", `27231'], via: ${via}`);

  it('are a map of addresses', () => {
    expect(settings(hbase("{ 'hbase-1:16020': '127.0.0.1:1' }")).hbase.via).toEqual(
      new Map([['hbase-1:16020', '127.0.0.1:1']]),
    );
    expect(settings(services).hbase.via.size).toBe(0);
  });

  it('are refused where they are none', () => {
    expect(problems(hbase('{ nowhere: "b:0" }'))).toEqual([
      '4 hbase.via.nowhere: key "nowhere" is no address; allowed is host:port with a port from 1 to 65535',
      '4 hbase.via.nowhere: "b:0" is no address; allowed is host:port with a port from 1 to 65535',
    ]);
  });
});
