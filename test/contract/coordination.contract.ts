// What membership, run locks, configuration and the directory of endpoints promise (platform/coordination). Run on each adapter: by
// coordination.test.ts on those that need no service, in test/real on those that do.

import { describe, expect, it, onTestFinished } from 'vitest';
import type { Configuration } from '../../platform/coordination/configuration.ts';
import type { EndpointDirectory, RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import type { Member, Membership } from '../../platform/coordination/membership.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';

/** An adapter without anything in it. It is closed at the end of the test that has opened it. */
export interface Opened<T> {
  readonly subject: T;
  readonly close?: () => void | Promise<void>;
}

/** With time for it to pass. */
export interface Timed<T> extends Opened<T> {
  readonly pass: (durationMs: number) => Promise<void>;
}

type Open<O> = () => O | Promise<O>;

async function opened<O extends Opened<unknown>>(open: Open<O>): Promise<O> {
  const all = await open();
  onTestFinished(async () => all.close?.());
  return all;
}

/**
 * `neverSeen`: what a view knows of an incarnation that it has never seen. Where all members are in one process, that it will not be
 * there any more; else that it has not been there since the view began.
 */
export function membershipContract(
  name: string,
  neverSeen: 'gone for ever' | 'gone since the view began',
  openOne: Open<Timed<Membership>>,
): void {
  const open = () => opened(openOne);
  const neverSeenMs = (sinceBeganMs: number) =>
    neverSeen === 'gone for ever' ? Number.POSITIVE_INFINITY : sinceBeganMs;
  const member: Member = {
    role: 'dispatch',
    processId: 'p1',
    incarnation: 'i1',
    address: '127.0.0.1:21001',
    unit: 'u',
    capacity: 512,
  };
  const spout: Member = { ...member, role: 'spout' };

  describe(`${name}: membership`, () => {
    it('shows who has joined, by role', async () => {
      const { subject } = await open();
      await subject.join(member);
      await subject.join({ ...spout, processId: 'p2' });
      expect(subject.members('dispatch')).toEqual([member]);
      expect(subject.members('spout')).toEqual([{ ...spout, processId: 'p2' }]);
      await subject.leave(member);
      expect(subject.members('dispatch')).toEqual([]);
    });

    it('joining twice is joining once', async () => {
      const { subject } = await open();
      await subject.join(member);
      await subject.join({ ...member, address: '127.0.0.1:21002' });
      expect(subject.members('dispatch')).toEqual([{ ...member, address: '127.0.0.1:21002' }]);
    });

    it('says how long an incarnation has been gone', async () => {
      const { subject, pass } = await open();
      expect(subject.goneForMs(member)).toBe(neverSeenMs(0));
      await subject.join(member);
      await pass(500);
      expect(subject.goneForMs(member)).toBe(0);
      await subject.leave(member);
      await pass(500);
      expect(subject.goneForMs(member)).toBe(500);
      await subject.leave(member);
      await pass(500);
      expect(subject.goneForMs(member), 'leaving again changes nothing').toBe(1_000);
      expect(subject.goneForMs({ ...member, incarnation: 'i2' })).toBe(neverSeenMs(1_500));
      await subject.join(member);
      expect(subject.goneForMs(member)).toBe(0);
    });

    it('is there while it has one role left', async () => {
      const { subject, pass } = await open();
      await subject.join(member);
      await subject.join(spout);
      await subject.leave(spout);
      await pass(500);
      expect(subject.goneForMs(member)).toBe(0);
      await subject.leave(member);
      await pass(200);
      expect(subject.goneForMs(member)).toBe(200);
    });

    for (const processId of ['', 'a/b', '..', 'ä\n\0"', '.'.repeat(300)]) {
      it(`takes the process id ${JSON.stringify(processId.slice(0, 10))}`, async () => {
        const { subject } = await open();
        await subject.join({ ...member, processId });
        expect(subject.members('dispatch')).toEqual([{ ...member, processId }]);
        expect(subject.goneForMs({ ...member, processId })).toBe(0);
        await subject.leave({ ...member, processId });
        expect(subject.members('dispatch')).toEqual([]);
      });
    }

    it('tells of changes until told not to', async () => {
      const { subject } = await open();
      let changes = 0;
      const stop = subject.watch(() => changes++);
      await subject.join(member);
      await subject.leave(member);
      expect(changes).toBe(2);
      stop();
      await subject.join(member);
      expect(changes).toBe(2);
    });
  });
}

/** `lateMs`: how much later than asked for time may have passed, with clocks that nobody moves by hand. */
export function runLocksContract(name: string, openOne: Open<Timed<RunLocks>>, lateMs = 0): void {
  const open = () => opened(openOne);

  describe(`${name}: run locks`, () => {
    it('are held by one, who is named by the time that is left', async () => {
      const { subject, pass } = await open();
      expect(await subject.acquire('r', 'a', 1_000)).toEqual({ kind: 'acquired' });
      await pass(400);
      const refused = await subject.acquire('r', 'b', 1_000);
      const remainingMs = refused.kind === 'held' ? refused.remainingMs : 0;
      expect(remainingMs).toBeGreaterThanOrEqual(600 - lateMs);
      expect(remainingMs).toBeLessThanOrEqual(600);
      expect(await subject.acquire('other', 'b', 1_000)).toEqual({ kind: 'acquired' });
    });

    it('end with their time', async () => {
      const { subject, pass } = await open();
      await subject.acquire('r', 'a', 1_000);
      await pass(1_000);
      expect(await subject.acquire('r', 'b', 1_000)).toEqual({ kind: 'acquired' });
      expect(await subject.renew(['r'], 'a', 1_000)).toEqual(['r']);
    });

    it('are given again to who has them', async () => {
      const { subject, pass } = await open();
      await subject.acquire('r', 'a', 1_000);
      await pass(900);
      expect(await subject.acquire('r', 'a', 1_000)).toEqual({ kind: 'acquired' });
      await pass(900);
      expect(await subject.acquire('r', 'b', 1_000)).toMatchObject({ kind: 'held' });
    });

    it('are renewed by their owner only, in one batch that names what is lost', async () => {
      const { subject, pass } = await open();
      await subject.acquire('mine', 'a', 1_000);
      await subject.acquire('over', 'a', 100);
      await subject.acquire('theirs', 'b', 1_000);
      await pass(500);
      expect(await subject.renew(['mine', 'over', 'theirs', 'never'], 'a', 1_000)).toEqual(['over', 'theirs', 'never']);
      await pass(900);
      expect(await subject.acquire('mine', 'b', 1_000)).toMatchObject({ kind: 'held' });
      expect(await subject.acquire('theirs', 'c', 1_000)).toEqual({ kind: 'acquired' });
    });

    it('are released by their owner only', async () => {
      const { subject } = await open();
      await subject.acquire('r', 'a', 1_000);
      await subject.release(['r', 'never'], 'b');
      expect(await subject.acquire('r', 'b', 1_000)).toMatchObject({ kind: 'held' });
      await subject.release(['r'], 'a');
      expect(await subject.acquire('r', 'b', 1_000)).toEqual({ kind: 'acquired' });
    });
  });
}

export function configurationContract(name: string, open: Open<Opened<Configuration>>): void {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const test = (what: string, body: (subject: Configuration) => Promise<void>) =>
    it(what, async () => body((await opened(open)).subject));

  describe(`${name}: configuration`, () => {
    test('puts by compare-and-set', async (subject) => {
      expect(await subject.get('flows/a')).toBeUndefined();
      expect(await subject.put('flows/a', bytes('x'), 1)).toEqual({ kind: 'conflict', version: 0 });
      expect(await subject.put('flows/a', bytes('x'), 0)).toEqual({ kind: 'done', version: 1 });
      expect(await subject.put('flows/a', bytes('y'), 0)).toEqual({ kind: 'conflict', version: 1 });
      expect(await subject.put('flows/a', bytes('y'), 1)).toEqual({ kind: 'done', version: 2 });
      expect(await subject.put('flows/a', bytes('z'), 1)).toEqual({ kind: 'conflict', version: 2 });
      expect(await subject.get('flows/a')).toEqual({ value: bytes('y'), version: 2 });
    });

    test('of many who expect the same version one wins', async (subject) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => subject.put('release', bytes(String(index)), 0)),
      );
      expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    });

    test('lists what lies directly below, sorted', async (subject) => {
      for (const path of ['f/b/2', 'f/b/10', 'f/a', 'f-c', 'f/Z', 'f/b', 'g/x', 'f/b0/1']) {
        await subject.put(path, bytes(path), 0);
      }
      expect(await subject.children('f')).toEqual(['Z', 'a', 'b', 'b0']);
      expect(await subject.children('f/b')).toEqual(['10', '2']);
      expect(await subject.children('f/a')).toEqual([]);
      expect(await subject.children('none')).toEqual([]);
    });

    test('tells who watches of each change at or below the path, once it is stored', async (subject) => {
      const seen: string[] = [];
      const stop = subject.watch('f', (changed) => seen.push(changed));
      await subject.put('f/b/2', bytes('x'), 0);
      await subject.put('f', bytes('x'), 0);
      await subject.put('f-c', bytes('x'), 0);
      await subject.put('f', bytes('y'), 7);
      expect(seen).toEqual(['f/b/2', 'f']);
      stop();
      await subject.put('f', bytes('y'), 1);
      expect(seen).toHaveLength(2);
    });

    test('keeps values apart from their givers and takers', async (subject) => {
      const given = Buffer.from('abc');
      await subject.put('a', given, 0);
      given.fill(0);
      const taken = await subject.get('a');
      expect(taken?.value).toEqual(bytes('abc'));
      taken?.value.fill(0);
      expect((await subject.get('a'))?.value).toEqual(bytes('abc'));
      await subject.put('empty', new Uint8Array(0), 0);
      expect(await subject.get('empty')).toEqual({ value: new Uint8Array(0), version: 1 });
    });

    test('takes every path that it allows', async (subject) => {
      for (const path of ['.', '..', './..', '-', '_/.../zookeeper', 'zookeeper', 'x'.repeat(512)]) {
        expect(await subject.put(path, bytes(path), 0)).toEqual({ kind: 'done', version: 1 });
        expect(await subject.get(path)).toEqual({ value: bytes(path), version: 1 });
      }
      expect(await subject.children('.')).toEqual(['..']);
    });

    for (const path of ['', '/', '/a', 'a/', 'a//b', 'a b', 'ä', 'a\0', 'x'.repeat(513)]) {
      test(`refuses the path ${JSON.stringify(path.slice(0, 10))}`, async (subject) => {
        await expect(subject.put(path, bytes('x'), 0)).rejects.toThrow(RangeError);
        await expect(subject.get(path)).rejects.toThrow(RangeError);
      });
    }

    test('takes values up to their limit', async (subject) => {
      const largest = new Uint8Array(4_194_304).map((_, index) => index % 251);
      expect(await subject.put('a', largest, 0)).toEqual({ kind: 'done', version: 1 });
      const taken = await subject.get('a');
      expect(taken?.value.length).toBe(largest.length);
      expect(Buffer.compare(taken?.value ?? largest.subarray(1), largest)).toBe(0);
      expect(await subject.put('a', largest.subarray(1), 1), 'a large one over a large one').toMatchObject({
        version: 2,
      });
      expect(await subject.put('a', bytes('small'), 2), 'a small one over a large one').toMatchObject({ version: 3 });
      expect(await subject.get('a')).toEqual({ value: bytes('small'), version: 3 });
      await expect(subject.put('a', new Uint8Array(4_194_305), 3)).rejects.toThrow('4194305 bytes');
    });
  });
}

export function endpointDirectoryContract(name: string, openOne: Open<Opened<EndpointDirectory>>): void {
  const open = () => opened(openOne);
  const endpoint: RegisteredEndpoint = {
    module: 'mail.parse',
    address: '127.0.0.1:21001',
    registration: 'r1',
    concurrency: 8,
    weight: 1,
    version: '1.2.3',
    unit: 'u',
    labels: { rack: '7', 'a/b "ä"': '' },
  };

  describe(`${name}: directory of endpoints`, () => {
    it('shows what is published until it is withdrawn', async () => {
      const { subject } = await open();
      const other = { ...endpoint, registration: 'r2', module: 'a/..\n' };
      await subject.publish(endpoint);
      await subject.publish(other);
      expect(subject.endpoints()).toHaveLength(2);
      expect(subject.endpoints()).toEqual(expect.arrayContaining([endpoint, other]));
      await subject.withdraw(endpoint);
      expect(subject.endpoints()).toEqual([other]);
      await subject.withdraw(endpoint);
      expect(subject.endpoints()).toEqual([other]);
    });

    it('shows the last of what one registration has published', async () => {
      const { subject } = await open();
      await subject.publish(endpoint);
      await subject.publish(endpoint);
      await subject.publish({ ...endpoint, weight: 2 });
      expect(subject.endpoints()).toEqual([{ ...endpoint, weight: 2 }]);
    });

    it('tells of changes until told not to', async () => {
      const { subject } = await open();
      let changes = 0;
      const stop = subject.watch(() => changes++);
      await subject.publish(endpoint);
      await subject.withdraw(endpoint);
      await subject.withdraw(endpoint);
      expect(changes).toBe(2);
      stop();
      await subject.publish(endpoint);
      expect(changes).toBe(2);
    });
  });
}
