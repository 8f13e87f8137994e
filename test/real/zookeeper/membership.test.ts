// Membership and the directory of endpoints through whatever happens to ZooKeeper and the way to it.

import { expect, it, onTestFinished } from 'vitest';
import type { Member } from '../../../platform/coordination/membership.ts';
import type { ZooKeeperSession } from '../../../platform/coordination/zookeeper/session.ts';
import { ZooKeeperEndpointDirectory } from '../../../platform/coordination/zookeeper/zookeeper-endpoint-directory.ts';
import { ZooKeeperMembership } from '../../../platform/coordination/zookeeper/zookeeper-membership.ts';
import { endFromOutside, newRoot, noProblem, openSession, sessionTimeoutMs, until } from './fixture.ts';
import { ownServer } from './own-server.ts';

const server = ownServer(27254);

function member(processId: string, role: Member['role'] = 'dispatch'): Member {
  return { role, processId, incarnation: `${processId}-1`, address: '127.0.0.1:1', unit: '', capacity: 1 };
}

interface Process {
  readonly session: ZooKeeperSession;
  readonly membership: ZooKeeperMembership;
}

/** A process that sees the members below `root`, by the way `through`. */
function start(root: string, through = server.address, onProblem = noProblem): Process {
  const session = openSession({ servers: [through], root });
  const membership = new ZooKeeperMembership(session, onProblem);
  onTestFinished(() => membership.close());
  return { session, membership };
}

async function join({ membership }: Process, who: Member): Promise<void> {
  await membership.join(who);
  await until('safe', () => membership.isSafe());
}

for (const [how, break_] of [
  ['nobody answers it', 'halfClose'],
  ['it is cut off', 'sever'],
] as const) {
  it(`a member to whom ${how} is not safe before others miss it, and comes back by itself`, async () => {
    const root = newRoot();
    const link = await server.link();
    const [cut, other] = [start(root, link.address), start(root)];
    await join(cut, member('a'));
    await join(other, member('b'));
    await until('seen', () => cut.membership.members('dispatch').length === 2);
    const happened: string[] = [];
    cut.membership.watch(() => happened.push(`safe: ${cut.membership.isSafe()}`));
    other.membership.watch(() => happened.push(`there: ${other.membership.members('dispatch').length}`));
    link[break_]();
    await until('missed', () => other.membership.members('dispatch').length === 1);
    const unsafe = happened.indexOf('safe: false');
    expect(unsafe, happened.join(', ')).toBeGreaterThanOrEqual(0);
    expect(happened.indexOf('there: 1')).toBeGreaterThan(unsafe);
    await until('gone for longer', () => other.membership.goneForMs(member('a')) > 100);
    // The one who is cut off knows nothing: for it nobody is gone.
    expect(cut.membership.goneForMs(member('b'))).toBe(0);
    expect(cut.membership.members('dispatch')).toHaveLength(2);

    link.heal();
    await until('back', () => other.membership.members('dispatch').length === 2);
    await until('safe', () => cut.membership.isSafe());
    expect(other.membership.goneForMs(member('a'))).toBe(0);
  });
}

it('a member whose session was ended joins again by itself', async () => {
  const root = newRoot();
  const [one, other] = [start(root), start(root)];
  await join(one, member('a'));
  await one.membership.join(member('a', 'spout'));
  await until('seen', () => other.membership.members('spout').length === 1);
  let wasMissed = false;
  other.membership.watch(() => {
    wasMissed ||= other.membership.members('dispatch').length === 0;
  });
  await endFromOutside(one.session, server.address);
  await until('missed', () => wasMissed);
  await until('back in both roles', () => {
    const { membership } = other;
    return membership.members('dispatch').length === 1 && membership.members('spout').length === 1;
  });
  await until('safe', () => one.membership.isSafe());
});

it('a member that left, or a process that ended, does not come back', async () => {
  const root = newRoot();
  const link = await server.link();
  const [leaves, ends, other] = [start(root, link.address), start(root), start(root)];
  await join(leaves, member('a'));
  await join(ends, member('b'));
  await until('seen', () => other.membership.members('dispatch').length === 2);
  link.sever();
  await until('cut', () => !leaves.session.isConnected);
  await leaves.membership.leave(member('a'));
  expect(leaves.membership.isSafe()).toBe(false);
  link.heal();
  await ends.session.close();
  await until('none', () => other.membership.members('dispatch').length === 0);
  await until('connected', () => leaves.session.isConnected);
  await leaves.membership.join(member('c'));
  await until('only the third', () => other.membership.members('dispatch')[0]?.processId === 'c');
  expect(other.membership.members('dispatch')).toHaveLength(1);
});

it('nobody is gone for longer while ZooKeeper is away, nor until all had time to come back', async () => {
  const root = newRoot();
  const [one, other] = [start(root), start(root)];
  await join(one, member('a'));
  await join(other, member('b'));
  await join(one, member('x'));
  await one.membership.leave(member('x'));
  await until('missed', () => other.membership.goneForMs(member('x')) > 0);
  server.instance.freeze();
  await until('noticed', () => !other.session.isConnected && !one.session.isConnected);
  const goneMs = other.membership.goneForMs(member('x'));
  expect(other.membership.isSafe()).toBe(false);
  expect(other.membership.members('dispatch')).toHaveLength(2);
  await server.instance.kill();
  expect(other.membership.goneForMs(member('x'))).toBe(goneMs);
  await server.instance.restart();
  await until('current', () => other.membership.isCurrent);
  expect(other.membership.goneForMs(member('x'))).toBe(goneMs);
  await until('both are back', () => one.membership.isSafe() && other.membership.isSafe());
  await until('time goes on', () => other.membership.goneForMs(member('x')) > goneMs);
  expect(other.membership.goneForMs(member('a'))).toBe(0);
});

it('a holder that was never seen is gone since the view began, not before', async () => {
  const root = newRoot();
  const link = await server.link();
  link.sever();
  const { membership, session } = start(root, link.address);
  expect(membership.goneForMs(member('never'))).toBe(0);
  expect(await session.connected(300)).toBe(false);
  expect(membership.goneForMs(member('never'))).toBe(0);
  link.heal();
  await until('the view begins', () => membership.isCurrent);
  expect(membership.goneForMs(member('never'))).toBeLessThan(sessionTimeoutMs);
  await until('gone', () => membership.goneForMs(member('never')) > 200);
});

it('a join waits for ZooKeeper', async () => {
  const link = await server.link();
  link.sever();
  const { membership } = start(newRoot(), link.address);
  let hasJoined = false;
  const joining = membership.join(member('a')).then(() => {
    hasJoined = true;
  });
  expect(membership.isSafe()).toBe(false);
  expect(hasJoined).toBe(false);
  link.heal();
  await joining;
  expect(membership.members('dispatch')).toHaveLength(1);
});

it('misses no change while its connection breaks again and again', async () => {
  const root = newRoot();
  const link = await server.link();
  const [watching, other] = [start(root, link.address), start(root)];
  for (let round = 0; round < 15; round++) {
    const who = member(`p${round}`);
    const joined = other.membership.join(who);
    link.cut();
    await joined;
    await until('seen', () =>
      watching.membership.members('dispatch').some(({ processId }) => processId === who.processId),
    );
    if (round % 3 === 0) continue;
    const left = other.membership.leave(who);
    link.cut();
    await left;
    await until(
      'missed',
      () => !watching.membership.members('dispatch').some(({ processId }) => processId === who.processId),
    );
  }
  expect(watching.membership.members('dispatch')).toHaveLength(5);
});

it('leaves out what others have put there, with one word about each, and makes again what they removed', async () => {
  const root = newRoot();
  const problems: string[] = [];
  const { membership, session } = start(root, server.address, (problem) => void problems.push(problem));
  await until('connected', () => session.isConnected);
  await session.ensure('/members/dispatch');
  const foreign = ['', 'x', 'null', '{"form":2}', '{"form":1,"role":"dispatch","processId":7}', '\u0000'];
  for (const [index, data] of foreign.entries()) {
    const path = `/members/dispatch/foreign${index}`;
    await session.change([{ kind: 'create', path, data: Buffer.from(data), mode: 'persistent' }]);
  }
  const known = { form: 1, ...member('newer'), color: 'red' };
  const data = Buffer.from(JSON.stringify(known));
  await session.change([{ kind: 'create', path: '/members/dispatch/newer', data, mode: 'persistent' }]);
  await membership.join(member('a'));
  await membership.join(member('b'));
  expect(
    membership
      .members('dispatch')
      .map(({ processId }) => processId)
      .sort(),
  ).toEqual(['a', 'b', 'newer']);
  expect(problems).toHaveLength(foreign.length);
  expect(problems[0]).toContain(`${root}/members/dispatch/foreign`);

  const names = await session.children('/members/dispatch');
  const own = names.kind === 'done' ? names.value.names.find((name) => name.startsWith('a.')) : undefined;
  let wasUnsafe = false;
  await until('safe', () => membership.isSafe());
  membership.watch(() => {
    wasUnsafe ||= !membership.isSafe();
  });
  await session.change([{ kind: 'remove', path: `/members/dispatch/${own}` }]);
  await until('made again', async () => (await session.read(`/members/dispatch/${own}`)).kind === 'done');
  await until('safe', () => membership.isSafe());
  expect(membership.members('dispatch')).toHaveLength(3);
});

it('endpoints are seen by every dispatch, go with theirs, and come back with its next session', async () => {
  const root = newRoot();
  const open = () => {
    const session = openSession({ servers: [server.address], root });
    const directory = new ZooKeeperEndpointDirectory(session, noProblem);
    onTestFinished(() => directory.close());
    return { session, directory };
  };
  const [one, other] = [open(), open()];
  const endpoint = { module: 'm', concurrency: 1, weight: 1, version: '', unit: '', labels: {} };
  const publish = (name: string) => one.directory.publish({ ...endpoint, address: '127.0.0.1:1', registration: name });
  await Promise.all(Array.from({ length: 100 }, (_, index) => publish(`r${index}`)));
  await until('seen', () => other.directory.endpoints().length === 100);
  await endFromOutside(one.session, server.address);
  let wasMissed = false;
  other.directory.watch(() => {
    wasMissed ||= other.directory.endpoints().length < 100;
  });
  await until('missed', () => wasMissed);
  await until('back', () => other.directory.endpoints().length === 100);
  await one.session.close();
  await until('gone', () => other.directory.endpoints().length === 0);
});
