// Servers that a test starts for itself.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../scripts/services/exchange.ts';
import { findHBaseFault } from '../../../scripts/services/hbase/probe.ts';
import { type Instance, startHBase, startRedis, startZooKeeper } from '../../../scripts/services/instance.ts';
import { serverIn } from '../../../scripts/services/process-table.ts';
import { findZooKeeperFault } from '../../../scripts/services/zookeeper/probe.ts';

const redisPort = 27245;
const zookeeperPort = 27246;

let folder: string;
const instances: Instance[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-instance-'));
});
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function ownRedis(...configuration: string[]): Promise<Instance> {
  const instance = await startRedis({ folder: join(folder, 'redis'), port: redisPort, configuration });
  instances.push(instance);
  return instance;
}

/** Sends a line to Redis and returns the first lines of its answer. */
async function ask(line: string, answerLines = 1): Promise<string[]> {
  const answer = await exchange({
    port: redisPort,
    request: Buffer.from(`${line}\r\n`),
    timeoutMs: 1000,
    readAnswer: (received) => {
      const text = received.toString('utf8');
      return text.split('\r\n').length > answerLines ? text : undefined;
    },
  });
  return answer.split('\r\n').slice(0, answerLines);
}

describe('an instance', () => {
  it('keeps its connections and answers nothing while it is frozen', async () => {
    const redis = await ownRedis();
    expect(redis.address).toBe(`127.0.0.1:${redisPort}`);
    expect(await ask('PING')).toEqual(['+PONG']);
    redis.freeze();
    await expect(ask('PING')).rejects.toThrow('no answer within 1000 ms');
    redis.thaw();
    expect(await ask('PING')).toEqual(['+PONG']);
  });

  it('is gone after a kill and back after a restart, in the same place', async () => {
    const redis = await ownRedis();
    const { pid, address } = redis;
    await redis.kill();
    await expect(ask('PING')).rejects.toThrow('ECONNREFUSED');
    expect(() => redis.freeze()).toThrow(`process ${pid}`);
    await redis.restart();
    expect(redis.pid).not.toBe(pid);
    expect(redis.address).toBe(address);
    expect(await ask('PING')).toEqual(['+PONG']);
  });

  it('takes further lines of configuration', async () => {
    await ownRedis('maxmemory 10mb', 'maxmemory-policy allkeys-lru');
    expect(await ask('CONFIG GET maxmemory-policy', 5)).toContain('allkeys-lru');
  });

  it('is told from another in the same folder', async () => {
    const redis = await ownRedis();
    const again = startRedis({ folder: redis.folder, port: redisPort });
    await expect(again).rejects.toThrow(`is in use by process ${redis.pid}, owned by process ${process.pid}`);
  });

  it('of ZooKeeper reads again after a kill', async () => {
    const zookeeper = await startZooKeeper({ folder: join(folder, 'zookeeper'), port: zookeeperPort });
    instances.push(zookeeper);
    expect(await findZooKeeperFault(zookeeperPort)).toBeUndefined();
    await zookeeper.kill();
    expect(await findZooKeeperFault(zookeeperPort)).toContain('ECONNREFUSED');
    await zookeeper.restart();
    expect(await findZooKeeperFault(zookeeperPort)).toBeUndefined();
  });

  it('of HBase reads again after a kill, and after it was frozen', async () => {
    const ports = { masterPort: 27247, regionServerPort: 27248, zookeeperPort: 27249 };
    const hbase = await startHBase({ folder: join(folder, 'hbase'), ...ports });
    instances.push(hbase);
    expect(await findHBaseFault(ports)).toBeUndefined();
    hbase.freeze();
    expect(await findHBaseFault(ports)).toBe('the master: no answer within 5000 ms');
    hbase.thaw();
    expect(await findHBaseFault(ports)).toBeUndefined();
    await hbase.kill();
    expect(await findHBaseFault(ports)).toContain('ECONNREFUSED');
    await hbase.restart();
    expect(await findHBaseFault(ports)).toBeUndefined();
  });

  it.each([
    ['ends', "process.kill(process.pid, 'SIGKILL')"],
    ['exits', 'process.exit(3)'],
  ])('does not outlive a test process that %s without stopping it', async (_, end) => {
    const module = JSON.stringify(join(import.meta.dirname, '../../../scripts/services/instance.ts'));
    const place = JSON.stringify({ folder: join(folder, 'redis'), port: redisPort });
    const program = `import { startRedis } from ${module};
      console.log((await startRedis(${place})).pid);
      process.stdin.once('data', () => ${end});`;
    const owner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [pid] = (await once(owner.stdout, 'data')) as [Buffer];
    expect(serverIn(join(folder, 'redis'))?.pid).toBe(Number(pid));
    owner.stdin.write('end\n');
    await once(owner, 'exit');
    await vi.waitFor(() => expect(serverIn(join(folder, 'redis'))).toBeUndefined(), { timeout: 10_000 });
  });
});
