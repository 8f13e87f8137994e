import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import type { TellEffect } from '../../flow/effect.ts';
import { InboxEventSchema, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { childName, parentId, Relatives, startEffect } from './relatives-fixture.ts';
import { startRun } from './start-run.ts';
import { tellRun } from './tell-run.ts';

function setUp() {
  const world = new Relatives();
  const tell = (more: Partial<TellEffect> = {}) =>
    tellRun(world.holding, world.creation, parentId, { ...cancel, ...more });
  const start = () => startRun(world.holding, world.creation, startEffect());
  return { world, tell, start };
}

const cancel: TellEffect = {
  kind: 'tell',
  step: 'tell/cancel/sub',
  to: childName,
  event: create(InboxEventSchema, { id: 'tell', arrivedMs: 1n, kind: { case: 'cancel', value: { cause: 'the end' } } }),
  ifAbsent: 'create cancelled',
};

describe('telling another run', () => {
  it('puts the event into its inbox, once', async () => {
    const { world, tell, start } = setUp();
    await start();
    expect([await tell(), await tell(), await tell({ to: world.child })]).toEqual(['told', 'told', 'told']);
    expect(await world.inbox()).toEqual(['cancel']);
  });

  it('has nothing to say to one that is not there', async () => {
    const { world, tell } = setUp();
    expect(await tell({ ifAbsent: 'nothing' })).toBe('told');
    expect(await tell({ to: world.child, ifAbsent: 'nothing' })).toBe('told');
    expect(await tell({ to: { ...childName, flow: 'none' } })).toBe('told');
    expect(await world.store.peek(world.child)).toBeUndefined();
  });

  it('cancels what is not there yet, so that a late start finds it so', async () => {
    const { world, tell, start } = setUp();
    expect(await tell()).toBe('told');
    const { run, entries } = (await world.store.load(world.child))!;
    expect(run.control.status).toMatchObject({ state: State.CANCELLED, outcomeNumber: 1, detail: 'the end' });
    expect(run.control.superseded, 'nobody can let it go on').toBe(true);
    expect(entries).toEqual({ ready: false });
    expect(await start()).toMatchObject({ kind: 'ended', end: { outcome: State.CANCELLED, outcomeNumber: 1 } });
    expect(await tell(), 'it has ended, and can be told').toBe('told');
  });

  it('is unknown when a start came between', async () => {
    const { world, tell, start } = setUp();
    const post = world.store.post.bind(world.store);
    world.store.post = async (run, event) => {
      const posted = await post(run, event);
      if (posted.kind === 'absent') await start();
      return posted;
    };
    expect(await tell()).toBe('unknown');
    expect(await tell()).toBe('told');
    expect(await world.inbox()).toEqual(['cancel']);
  });

  it('is unknown when the store does not answer', async () => {
    const { world, tell } = setUp();
    world.store.post = async () => ({ kind: 'unknown', cause: 'test' });
    expect(await tell()).toBe('unknown');
    expect(await tell({ to: world.child })).toBe('unknown');
  });
});
