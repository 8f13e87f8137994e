// A session through whatever happens to its connections.

import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ZooKeeperSession } from '../../../platform/coordination/zookeeper/session.ts';
import { endFromOutside, newRoot, openSession, sessionTimeoutMs, until } from './fixture.ts';
import { ownServer } from './own-server.ts';

const server = ownServer(27250);

function open(through = server.address): ZooKeeperSession {
  return openSession({ servers: [through] });
}

describe('a session', () => {
  it('begins when the server does', async () => {
    await server.instance.kill();
    const session = open();
    expect(await session.connected(300)).toBe(false);
    expect(await session.ensure('/a')).toMatchObject({ kind: 'unavailable', maybeDone: false });
    await server.instance.restart();
    await until('connected', () => session.isConnected);
    await until('leased', () => session.isLeased);
    expect(session.timeoutMs).toBe(sessionTimeoutMs);
  });

  it('gives up a server that accepts and says nothing', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => silent.listen(27251, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const session = openSession({ servers: ['127.0.0.1:27251', server.address], random: () => 0 });
    await until('connected to the other', () => session.isConnected);
    expect(sockets.size).toBeGreaterThan(0);
  });

  it('gives up a server whose answers are nonsense', async () => {
    const nonsense = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(Buffer.from([0, 0, 0, 40, ...Array.from({ length: 40 }, () => 0x7f)]));
      socket.write(Buffer.from([0, 0, 0, 2, 1, 2]));
    });
    await new Promise<void>((resolve) => nonsense.listen(27252, '127.0.0.1', resolve));
    onTestFinished(() => void nonsense.close());
    const session = openSession({ servers: ['127.0.0.1:27252', server.address], random: () => 0 });
    await until('leased by the other', () => session.isLeased);
  });

  it('notices a frozen server, and goes on or begins anew after', async () => {
    const session = open();
    await until('leased', () => session.isLeased);
    const events: string[] = [];
    session.listen(({ kind }) => events.push(kind));
    server.instance.freeze();
    await until('not leased', () => !session.isLeased);
    await until('dropped', () => !session.isConnected);
    expect(events.slice(0, 2)).toEqual(['lease', 'disconnected']);
    server.instance.thaw();
    await until('leased again', () => session.isLeased);
  });

  it('goes on after the server was killed and started again', async () => {
    const session = open();
    await until('leased', () => session.isLeased);
    const before = session.session;
    await session.ensure('');
    expect(
      await session.change([{ kind: 'create', path: '/mine', data: Buffer.from('x'), mode: 'ephemeral' }]),
    ).toMatchObject({
      kind: 'done',
    });
    await server.instance.restart();
    await until('connected again', async () => (await session.sync()).kind === 'done');
    expect(session.session).toBe(before);
    expect(await session.read('/mine')).toMatchObject({ kind: 'done', value: { stat: { owner: before } } });
  });

  it('is replaced when it was ended from outside', async () => {
    const session = open();
    await until('leased', () => session.isLeased);
    await session.ensure('');
    await session.change([{ kind: 'create', path: '/mine', data: Buffer.from('x'), mode: 'ephemeral' }]);
    const before = session.session;
    await endFromOutside(session, server.address);
    await until('another session', () => session.session !== undefined && session.session !== before);
    await until('leased', () => session.isLeased);
    expect(await session.read('/mine')).toEqual({ kind: 'absent' });
  });

  it('says of a request whose answer was lost that it may be done', async () => {
    const link = await server.link();
    const session = open(link.address);
    await until('connected', () => session.isConnected);
    await session.ensure('');
    link.halfClose();
    const lost = session.change([{ kind: 'create', path: '/a', data: Buffer.from(''), mode: 'persistent' }]);
    expect(await lost).toMatchObject({ kind: 'unavailable', maybeDone: true });
    link.heal();
    await until('it is there', async () => (await session.read('/a')).kind === 'done');
  });

  it('bounds what is out, and answers all of it', async () => {
    const session = open();
    await until('connected', () => session.isConnected);
    await session.ensure('');
    const answers = await Promise.all(Array.from({ length: 2_000 }, () => session.read('')));
    expect(answers.every(({ kind }) => kind === 'done')).toBe(true);
    const many = Array.from({ length: 12_000 }, () => session.read(''));
    const kinds = (await Promise.all(many)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'unavailable')).toHaveLength(12_000 - 10_000 - 64);
  });

  it('does all of a change or nothing, by compare-and-set', async () => {
    const session = open();
    await until('connected', () => session.isConnected);
    await session.ensure('/a');
    const write = (version: number) => ({ kind: 'write' as const, path: '/a', data: Buffer.from('x'), version });
    const make = { kind: 'create' as const, path: '/b', data: Buffer.from(''), mode: 'persistent' as const };
    expect(await session.change([make, write(5)])).toEqual({ kind: 'conflict' });
    expect(await session.read('/b')).toEqual({ kind: 'absent' });
    await expect(session.change([write(0)])).rejects.toThrow('version 0');
    expect(await session.write('/a', Buffer.from('y'), 0)).toMatchObject({ kind: 'done', value: { version: 1 } });
    expect(await session.write('/a', Buffer.from('z'), 0)).toEqual({ kind: 'conflict' });
    expect(await session.change([make, write(1)])).toMatchObject({ kind: 'done' });
    expect(await session.change([make])).toEqual({ kind: 'exists' });
    expect(await session.read('')).toMatchObject({ kind: 'done', value: { data: new Uint8Array(0) } });
  });

  it('ends with what it holds when it is closed', async () => {
    const root = newRoot();
    const first = openSession({ servers: [server.address], root });
    const second = openSession({ servers: [server.address], root });
    await until('connected', () => first.isConnected && second.isConnected);
    await first.ensure('');
    await first.change([{ kind: 'create', path: '/mine', data: Buffer.from(''), mode: 'ephemeral' }]);
    expect(await second.read('/mine')).toMatchObject({ kind: 'done' });
    await first.close();
    expect(await second.read('/mine')).toEqual({ kind: 'absent' });
    expect(await first.read('/mine')).toMatchObject({ kind: 'unavailable' });
  });

  it('closes without a server too', async () => {
    const link = await server.link();
    const [cut, frozen, never] = [open(link.address), open(link.address), open('127.0.0.1:27253')];
    await until('connected', () => cut.isConnected && frozen.isConnected);
    link.halfClose();
    await Promise.all([frozen.close(), never.close()]);
    link.sever();
    await cut.close();
  });

  it('begins anew when the servers were set back', async () => {
    const session = open();
    await until('leased', () => session.isLeased);
    await session.ensure('/a');
    await server.instance.kill();
    rmSync(`${server.instance.folder}/data`, { recursive: true });
    await server.instance.restart();
    await until('leased', () => session.isLeased && session.isConnected);
    expect(await session.read('/a')).toEqual({ kind: 'absent' });
  });
});
