// What `npm run services` does, on ports of its own.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serverFolder, services } from '../../../scripts/services/catalogue.ts';
import { bringDown, bringUp, findStatus, runningService } from '../../../scripts/services/operations.ts';
import { commandOwner, testRunsOwner } from '../../../scripts/services/owner.ts';
import { runningServers } from '../../../scripts/services/process-table.ts';
import { ensureAnswering, signalServer, stopServer } from '../../../scripts/services/server.ts';
import { makeOwnPlace, type OwnPlace } from './own-place.ts';
import { useServices } from './setup.ts';

let place: OwnPlace;
let said: string[];
const say = (line: string) => void said.push(line);
beforeEach(() => {
  place = makeOwnPlace();
  said = [];
});
afterEach(() => place.remove());

const up = (...names: ('zookeeper' | 'redis' | 'hbase')[]) => bringUp(names, commandOwner, place, say);

describe('up', () => {
  it('starts what does not run and leaves alone what answers', async () => {
    await up('zookeeper', 'redis');
    const first = await Promise.all([findStatus('zookeeper', place), findStatus('redis', place)]);
    expect(first).toMatchObject([
      { state: 'answering', address: '127.0.0.1:27240', version: '3.9.5', folder: join(place.root, 'zookeeper') },
      { state: 'answering', address: '127.0.0.1:27241', folder: join(place.root, 'redis') },
    ]);
    await up('zookeeper', 'redis');
    expect(await Promise.all([findStatus('zookeeper', place), findStatus('redis', place)])).toEqual(first);
    expect(said.filter((line) => line.includes('runs already and answers'))).toHaveLength(2);
  });

  it('starts one server when two ask at the same time', async () => {
    await Promise.all([up('redis'), up('redis')]);
    expect(runningServers(place.root)).toHaveLength(1);
  });

  it('starts again what was killed', async () => {
    await up('redis');
    const before = runningService('redis', place.root)!;
    process.kill(before.pid, 'SIGKILL');
    await up('redis');
    const after = await findStatus('redis', place);
    expect(after.state).toBe('answering');
    expect(after.pid).not.toBe(before.pid);
  });

  it('kills and starts again what is stuck', async () => {
    await up('redis');
    const before = runningService('redis', place.root)!;
    signalServer(before, 'SIGSTOP');
    expect(await findStatus('redis', place)).toMatchObject({ state: 'starting', detail: 'no answer within 2000 ms' });
    const impatient = { ...services.redis.server(place), readyWithinMs: 2500 };
    const after = await ensureAnswering(impatient, { root: place.root, owner: commandOwner });
    expect(after.pid).not.toBe(before.pid);
  });

  it('names the process that uses the port, and leaves it alone', async () => {
    const foreign = createServer().listen(place.ports.redis, '127.0.0.1');
    await once(foreign, 'listening');
    const sentence = new RegExp(`port 27241 is used by process ${process.pid} \\(.*node`);
    await expect(up('redis')).rejects.toThrow(sentence);
    expect(await findStatus('redis', place)).toMatchObject({
      state: 'stopped',
      detail: expect.stringMatching(sentence),
    });
    foreign.close();
    await once(foreign, 'close');
  });

  it('shows the end of the log of a server that does not start', async () => {
    const server = services.redis.server(place);
    const broken = { ...server, prepare: () => ({ ...server.prepare(), arguments: ['--port', 'none'] }) };
    await expect(ensureAnswering(broken, { root: place.root, owner: commandOwner })).rejects.toThrow(
      /it ended by itself, 3 starts in a row; the end of [^]*server\.log:[^]*FATAL CONFIG FILE ERROR/,
    );
  });

  it('waits until HBase reads, and finds it as it was after a kill', async () => {
    await up('hbase');
    expect(await findStatus('hbase', place)).toMatchObject({ state: 'answering', address: '127.0.0.1:27243' });
    await stopServer(runningService('hbase', place.root)!);
    expect(await findStatus('hbase', place)).toMatchObject({ state: 'stopped' });
    await up('hbase');
    expect(await findStatus('hbase', place)).toMatchObject({ state: 'answering' });
  });
});

describe('down', () => {
  it('stops what runs, frozen or not, and is content with what does not', async () => {
    await up('redis');
    signalServer(runningService('redis', place.root)!, 'SIGSTOP');
    await bringDown(['redis'], place, say);
    await bringDown(['redis'], place, say);
    expect(said.slice(-2)).toEqual([expect.stringMatching(/^redis: stopped/), 'redis: was not running']);
    expect(runningServers(place.root)).toEqual([]);
  });

  it('stops the servers of a test process that is gone, and not those of one that lives', async () => {
    const redis = services.redis.server(place);
    const zookeeper = services.zookeeper.server(place);
    await ensureAnswering(redis, { root: place.root, owner: `process ${process.pid} 1` });
    await ensureAnswering(zookeeper, { root: place.root, owner: commandOwner });
    await bringDown([], place, say);
    expect(runningServers(place.root).map((server) => server.folder)).toEqual([serverFolder(place.root, 'zookeeper')]);
    expect(said).toEqual([expect.stringContaining('stopped what a killed test left')]);
  });
});

describe('test runs', () => {
  it('share what one of them started, and the last one stops it', async () => {
    const endFirst = await useServices(['redis'], place, say);
    const endSecond = await useServices(['redis'], place, say);
    await endFirst();
    expect(runningService('redis', place.root)?.owner).toBe(testRunsOwner);
    await endSecond();
    expect(runningService('redis', place.root)).toBeUndefined();
  });

  it('leave running what the command started', async () => {
    await up('redis');
    const end = await useServices(['redis'], place, say);
    await end();
    expect(runningService('redis', place.root)?.owner).toBe(commandOwner);
  });
});

describe('npm run services', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/services/main.ts', ...args], { encoding: 'utf8' });

  it('says how the shared services are', () => {
    const { status, stdout } = run('status');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^zookeeper +answering +127\.0\.0\.1:27210 +pid \d+ +version 3\.9\.5/m);
    expect(stdout).toMatch(/^redis +answering +127\.0\.0\.1:27220/m);
    expect(stdout).toMatch(/^hbase +answering +127\.0\.0\.1:27231/m);
  });

  it('refuses what it does not know', () => {
    const { status, stderr } = run('up', 'kafka');
    expect(status).toBe(2);
    expect(stderr).toBe('services: there is no service "kafka"; allowed are zookeeper, redis, hbase\n');
  });
});
