// Configuration through whatever happens to ZooKeeper and the way to it.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigurationUnavailable } from '../../../platform/coordination/configuration.ts';
import { readChunks, sweepChunks, writeChunks } from '../../../platform/coordination/zookeeper/chunks.ts';
import { chunksOf, nodeOf } from '../../../platform/coordination/zookeeper/configuration-tree.ts';
import type { ZooKeeperSession } from '../../../platform/coordination/zookeeper/session.ts';
import { ZooKeeperConfiguration } from '../../../platform/coordination/zookeeper/zookeeper-configuration.ts';
import { newRoot, noProblem, openSession, until } from './fixture.ts';
import { ownServer } from './own-server.ts';

const server = ownServer(27255);
const bytes = (text: string) => new TextEncoder().encode(text);

interface Process {
  readonly session: ZooKeeperSession;
  readonly configuration: ZooKeeperConfiguration;
}

async function start(
  root: string,
  {
    through = server.address,
    onProblem = noProblem,
    ...more
  }: { through?: string; onProblem?: (problem: string) => void; cacheFolder?: string } = {},
): Promise<Process> {
  const session = openSession({ servers: [through], root });
  const configuration = new ZooKeeperConfiguration({ session, newId: randomUUID, onProblem, ...more });
  onTestFinished(() => configuration.close());
  return { session, configuration };
}

it('of two who put at the same version exactly one wins, in every round', async () => {
  const root = newRoot();
  const processes = await Promise.all([start(root), start(root)]);
  for (let version = 0; version < 50; version++) {
    const results = await Promise.all(
      processes.map(({ configuration }, index) => configuration.put('a/b/c', bytes(`${version} ${index}`), version)),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['conflict', 'done']);
    const winner = results.findIndex(({ kind }) => kind === 'done');
    for (const { configuration } of processes) {
      expect(await configuration.get('a/b/c')).toEqual({ value: bytes(`${version} ${winner}`), version: version + 1 });
    }
  }
});

it('of two who put values of many chunks one wins, and its value is whole', async () => {
  const root = newRoot();
  const processes = await Promise.all([start(root), start(root)]);
  for (let version = 0; version < 5; version++) {
    const values = [1, 2].map((fill) => new Uint8Array(3_000_000).fill(fill + version));
    const results = await Promise.all(
      processes.map(({ configuration }, index) => configuration.put('large', values[index] ?? bytes(''), version)),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['conflict', 'done']);
    const read = await processes[version % 2]?.configuration.get('large');
    const winner = values[results.findIndex(({ kind }) => kind === 'done')] ?? bytes('');
    expect(Buffer.compare(read?.value ?? bytes(''), winner)).toBe(0);
  }
});

it('a put whose answer is lost is done once', async () => {
  const root = newRoot();
  const link = await server.link();
  const [one, other] = await Promise.all([start(root, { through: link.address }), start(root)]);
  await until('connected', () => one.session.isConnected);
  expect(await one.configuration.put('a', bytes('0'), 0)).toMatchObject({ kind: 'done' });
  for (let version = 1; version <= 4; version++) {
    // Its requests arrive, and nothing comes back.
    link.halfClose();
    const put = one.configuration.put('a', bytes(`${version}`), version);
    await until('cut', () => !one.session.isConnected);
    link.heal();
    expect(await put).toEqual({ kind: 'done', version: version + 1 });
    expect(await other.configuration.get('a')).toEqual({ value: bytes(`${version}`), version: version + 1 });
  }
});

it('puts go through while the connection breaks again and again, each at most once', async () => {
  const root = newRoot();
  const link = await server.link();
  const [one, other] = await Promise.all([start(root, { through: link.address }), start(root)]);
  const seen: string[] = [];
  other.configuration.watch('a', (changed) => seen.push(changed));
  await until('connected', () => one.session.isConnected && other.session.isConnected);
  await other.configuration.put('b', bytes(''), 0);
  const cuts = { isOver: false };
  const cutting = (async () => {
    for (let round = 0; !cuts.isOver; round++) {
      await until('connected', () => one.session.isConnected || cuts.isOver);
      // Each connection lives for a little, and breaks in the midst of whatever is under way.
      await delay((round * 7) % 40);
      link.cut();
      await until('cut', () => !one.session.isConnected || cuts.isOver);
    }
  })();
  for (let version = 0; version < 20; version++) {
    expect(await one.configuration.put('a', bytes(`${version}`), version)).toEqual({
      kind: 'done',
      version: version + 1,
    });
  }
  cuts.isOver = true;
  await cutting;
  const stored = (await other.configuration.get('a'))?.version ?? 0;
  await until('each is told once', () => seen.length === stored);
});

it('what was read stands in while ZooKeeper is away, also after a restart', async () => {
  const root = newRoot();
  const cacheFolder = mkdtempSync(join(tmpdir(), 'weir-cache-'));
  onTestFinished(() => rmSync(cacheFolder, { recursive: true }));
  const large = new Uint8Array(2_000_000).fill(9);
  const before = await start(root, { cacheFolder });
  await before.configuration.put('flows/a', bytes('1'), 0);
  await before.configuration.put('flows/b', large, 0);
  await before.configuration.get('flows/b');
  expect(await before.configuration.children('flows')).toEqual(['a', 'b']);

  await server.instance.kill();
  await until('away', () => !before.session.isConnected);
  expect(await before.configuration.get('flows/a')).toEqual({ value: bytes('1'), version: 1 });
  await before.configuration.close();

  const after = await start(root, { cacheFolder });
  const seen: string[] = [];
  after.configuration.watch('flows', (changed) => seen.push(changed));
  expect(await after.configuration.get('flows/a')).toEqual({ value: bytes('1'), version: 1 });
  expect((await after.configuration.get('flows/b'))?.value.length).toBe(large.length);
  expect(await after.configuration.children('flows')).toEqual(['a', 'b']);
  await expect(after.configuration.get('flows/c')).rejects.toThrow(ConfigurationUnavailable);

  // Another one is first after the outage: who has read what was last known is told.
  await server.instance.restart();
  const other = await start(root);
  expect(await other.configuration.put('flows/a', bytes('2'), 1)).toEqual({ kind: 'done', version: 2 });
  await until('told', () => seen.includes('flows/a'));
  expect(await after.configuration.get('flows/a')).toEqual({ value: bytes('2'), version: 2 });
});

it('a put while ZooKeeper is away fails with an error that says whether it may be done', async () => {
  const link = await server.link();
  const { session, configuration } = await start(newRoot(), { through: link.address });
  await until('connected', () => session.isConnected);
  await configuration.put('a', bytes('1'), 0);
  link.sever();
  await until('away', () => !session.isConnected);
  const put = configuration.put('a', bytes('2'), 1);
  await expect(put).rejects.toThrow(ConfigurationUnavailable);
  await expect(put).rejects.toMatchObject({ maybeDone: false });
});

it('misses no change, and tells of each in order, while its connection breaks again and again', async () => {
  const root = newRoot();
  const link = await server.link();
  const [watching, other] = await Promise.all([start(root, { through: link.address }), start(root)]);
  const seen: string[] = [];
  await until('connected', () => watching.session.isConnected);
  await watching.configuration.put('begin', bytes(''), 0);
  watching.configuration.watch('f', (changed) => seen.push(changed));
  const put: string[] = [];
  for (let index = 0; index < 100; index++) {
    const path = `f/${index % 7}/${index}`;
    await other.configuration.put(path, bytes(''), 0);
    put.push(path);
    if (index % 10 === 0) link.cut();
  }
  await until('all are told', () => seen.length >= put.length);
  expect(seen).toEqual(put);
});

it('one who was away for longer than changes are kept compares all', async () => {
  const root = newRoot();
  const link = await server.link();
  const [away, other] = await Promise.all([start(root, { through: link.address }), start(root)]);
  await until('connected', () => away.session.isConnected);
  for (const path of ['same', 'f/changed', 'f/g/kept']) await away.configuration.put(path, bytes('1'), 0);
  for (const path of ['same', 'f/changed', 'f/g/kept']) await away.configuration.get(path);
  const seen = new Set<string>();
  away.configuration.watch('f', (changed) => seen.add(changed));
  link.sever();
  await until('away', () => !away.session.isConnected);
  await other.configuration.put('f/changed', bytes('2'), 1);
  await other.configuration.put('f/new/one', bytes('1'), 0);
  for (let version = 1; version <= 700; version++) await other.configuration.put('same', bytes('x'), version);
  link.heal();
  await until('told', () => seen.size >= 2);
  expect([...seen].sort()).toEqual(['f/changed', 'f/new/one']);
  const changes = await other.session.children('/configuration/changes');
  expect(changes.kind === 'done' && changes.value.names.length).toBeLessThan(600);
});

it('sets of chunks that nothing names are removed when they are old, and only then', async () => {
  const { session, configuration } = await start(newRoot());
  await until('connected', () => session.isConnected);
  const value = new Uint8Array(1_200_000).fill(5);
  await writeChunks(session, 'a', 'left-behind', value);
  await configuration.put('a', value, 0);
  const sets = async () => {
    const all = await session.children(chunksOf('a'));
    return all.kind === 'done' ? all.value.names : [];
  };
  expect(await sets()).toHaveLength(2);
  const named = (await sets()).find((set) => set !== 'left-behind');
  await sweepChunks(session, 'a', named, 0);
  expect(await sets()).toEqual([named]);
  expect((await configuration.get('a'))?.value.length).toBe(value.length);
  expect(await readChunks(session, 'a', 'left-behind', value.length)).toEqual({ kind: 'absent' });
});

it('what it did not write itself is refused, with the node, and not overwritten', async () => {
  const problems: string[] = [];
  const { session, configuration } = await start(newRoot(), { onProblem: (problem) => void problems.push(problem) });
  await until('connected', () => session.isConnected);
  await configuration.put('a/b', bytes('1'), 0);
  const node = await session.read(nodeOf('a/b'));
  if (node.kind !== 'done') throw new Error(node.kind);
  await session.write(nodeOf('a/b'), bytes('by hand'), node.value.stat.version);
  await expect(configuration.get('a/b'), 'what was put is last known').resolves.toMatchObject({ version: 1 });
  await expect(configuration.put('a/b', bytes('2'), 1)).rejects.toThrow('/configuration/tree/a/b');
  expect(problems[0]).toContain('/configuration/tree/a/b');

  // A way that was made by hand is used.
  await session.ensure(nodeOf('x/y'));
  expect(await configuration.put('x/y', bytes('1'), 0)).toEqual({ kind: 'done', version: 1 });
  expect(await configuration.put('x/y', bytes('2'), 1)).toEqual({ kind: 'done', version: 2 });
});
