// Endpoints of modules that register at one dispatch and are called by another, which knows of them through a real ZooKeeper.

import { describe, expect, it, onTestFinished } from 'vitest';
import type { ZooKeeperSession } from '../../../platform/coordination/zookeeper/session.ts';
import { ZooKeeperEndpointDirectory } from '../../../platform/coordination/zookeeper/zookeeper-endpoint-directory.ts';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type ServedModule, serveModule } from '../../../workers/typescript/index.ts';
import { becomes, type KnowingDispatch, known, startDispatch } from '../../contract/directory/dispatch-world.ts';
import { endFromOutside, newRoot, noProblem, openSession, removeTree, sharedServer } from '../zookeeper/fixture.ts';

interface ClusterDispatch extends KnowingDispatch {
  readonly session: ZooKeeperSession;
}

/** A root that is removed when everything else of the test has ended. */
function ownRoot(): string {
  const session = openSession({ root: newRoot() });
  onTestFinished(() => removeTree(session));
  return session.root;
}

async function dispatch(root: string): Promise<ClusterDispatch> {
  const session = openSession({ root });
  const directory = new ZooKeeperEndpointDirectory(session, noProblem);
  const started = await startDispatch("{ modules: {}, register: ['test.*'] }", directory);
  onTestFinished(async () => {
    await started.stop(0);
    directory.close();
  });
  return { ...started, session };
}

async function serve(engines: readonly string[]): Promise<ServedModule> {
  const served = await serveModule(
    { name: 'test.work', input: {}, output: {}, process: () => ({}) },
    { address: '127.0.0.1:0', handleSignals: false, register: { engines, onProblem: () => {} } },
  );
  onTestFinished(served.stop);
  return served;
}

const endingOf = async ({ call }: KnowingDispatch) => Ending[(await call('test.work')).answer.ending];

describe('over ZooKeeper, a module that registers at one dispatch', () => {
  it('is called by the other, until it stops', async () => {
    const root = ownRoot();
    const [one, other] = [await dispatch(root), await dispatch(root)];
    const served = await serve([one.address]);
    await becomes('known', () => known(other, 'test.work').length === 1);
    expect(await endingOf(other)).toBe('SUCCEEDED');
    await served.stop();
    await becomes('gone', () => known(other, 'test.work').length === 0);
    expect(await endingOf(other)).toBe('UNREACHABLE');
  });

  it('is known again when the session of its dispatch has expired', async () => {
    const root = ownRoot();
    const [one, other] = [await dispatch(root), await dispatch(root)];
    const served = await serve([one.address]);
    await becomes('known', () => known(other, 'test.work').length === 1);
    const before = one.session.identity?.id;
    await endFromOutside(one.session, sharedServer);
    await becomes('a new session', () => one.session.identity?.id !== undefined && one.session.identity.id !== before);
    await becomes('known', () => known(other, 'test.work')[0] === served.address);
    expect(await endingOf(other)).toBe('SUCCEEDED');
  });

  it('is at the other one when its dispatch has cut all streams', async () => {
    const root = ownRoot();
    const [one, other] = [await dispatch(root), await dispatch(root)];
    const served = await serve([one.address, other.address]);
    await becomes('known', () => known(other, 'test.work').length + known(one, 'test.work').length === 2);
    await one.stop(0);
    await becomes('one registration', () => known(other, 'test.work').length === 1);
    expect(known(other, 'test.work')).toEqual([served.address]);
    expect(await endingOf(other)).toBe('SUCCEEDED');
  });
});
