import { describe, expect, it } from 'vitest';
import { Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { bytes, childName, parentId, Relatives, startEffect } from './relatives-fixture.ts';
import { startRun } from './start-run.ts';

const retryId = 'tell/retry/sub/2';

function setUp() {
  const world = new Relatives();
  const start = (more = {}) => startRun(world.holding, world.creation, startEffect(more));
  return { world, start, retry: () => start({ retryId, round: 2 }) };
}

describe('starting a run', () => {
  it('creates it as the step says', async () => {
    const { world, start } = setUp();
    expect(await start()).toEqual({ kind: 'open', child: world.child });
    const { run, entries } = (await world.store.load(world.child))!;
    const { level, parent, rowKey, deadlineMs, flowVersion } = run.control;
    expect({ level, parent, rowKey, flowVersion }).toEqual({
      ...{ level: 3, rowKey: bytes('item'), flowVersion: 1 },
      parent: startEffect().parent,
    });
    expect(deadlineMs).toBe(Math.min(startEffect().deadlineMs!, world.clock.nowMs() + 600_000));
    expect(run.fields).toEqual(new Map([['input/text', { bytes: bytes('hello') }]]));
    expect(entries).toEqual({ ready: true, timerMs: deadlineMs });
  });

  it('finds it, however it stands', async () => {
    const { world, start } = setUp();
    await start();
    for (const state of [State.OPEN, State.PARKED, State.ENDING]) {
      await world.become({ state });
      expect(await start()).toEqual({ kind: 'open', child: world.child });
    }
  });

  it('hears how it ended, with the fields that the parent wants', async () => {
    const { world, start } = setUp();
    await start();
    await world.become({ state: State.SUCCEEDED, outcomeNumber: 1 }, { 'only/upper': 'HELLO', 'only/other': 'x' });
    expect(await start()).toEqual({
      kind: 'ended',
      child: world.child,
      end: {
        ...{ outcome: State.SUCCEEDED, outcomeNumber: 1, reason: Reason.UNSPECIFIED, detail: '' },
        fields: new Map([
          ['upper', { bytes: bytes('HELLO') }],
          ['grade', { bytes: bytes('7') }],
        ]),
      },
    });
  });

  it('is refused for a flow that is not there', async () => {
    const { start } = setUp();
    expect(await start({ name: { ...childName, flow: 'none' } })).toEqual({
      kind: 'refused',
      message: 'no released flow is named none',
    });
    expect(await start({ name: { ...childName, version: 9 } })).toEqual({
      kind: 'refused',
      message: 'there is no version 9 of flow child',
    });
  });

  it('is refused where a run of another step stands', async () => {
    const { start } = setUp();
    await start();
    const { parent } = startEffect();
    const message = "other/child/1/test/parent/item/sub/1 is there already, and this step didn't start it";
    expect(await start({ parent: { ...parent, step: 'else' } })).toEqual({ kind: 'refused', message });
    expect(await start({ parent: { ...parent, run: parentId.replace('item', 'two') } })).toMatchObject({ message });
  });

  it('is unknown when the store does not answer', async () => {
    const { world, start } = setUp();
    world.store.create = async () => ({ kind: 'unknown', cause: 'test' });
    const started = start();
    await world.clock.advance(120_000);
    expect(await started).toBe('unknown');
  });
});

describe('a step that is retried', () => {
  it('creates a child that is not there', async () => {
    const { world, retry } = setUp();
    expect(await retry()).toEqual({ kind: 'open', child: world.child });
  });

  it('asks one that has failed to go on, once', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.FAILED, outcomeNumber: 1 });
    const retried = { kind: 'retried', child: world.child, outcomeNumber: 1 };
    expect([await retry(), await retry()]).toEqual([retried, retried]);
    expect(await world.inbox()).toEqual(['retry 1']);
  });

  it('leaves one that has succeeded as it is', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.SUCCEEDED, outcomeNumber: 2 });
    expect(await retry()).toMatchObject({ kind: 'ended', end: { outcome: State.SUCCEEDED, outcomeNumber: 2 } });
    expect(await world.inbox()).toEqual([]);
  });

  it('asks one that is ending to come back from that outcome', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.ENDING, outcome: State.CANCELLED, outcomeNumber: 2 });
    expect(await retry()).toEqual({ kind: 'retried', child: world.child, outcomeNumber: 2 });
    expect(await world.inbox()).toEqual(['retry 2']);
  });

  it('asks one whose cancel is on the way to come back from the outcome that it leads to', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.OPEN, outcomeNumber: 1 });
    await world.post('cancel', { case: 'cancel', value: {} });
    expect(await retry()).toEqual({ kind: 'retried', child: world.child, outcomeNumber: 2 });
    expect(await world.inbox()).toEqual(['cancel', 'retry 2']);
  });

  it('awaits the next end of one that goes on anyway', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.OPEN, outcomeNumber: 1 });
    expect(await retry()).toEqual({ kind: 'retried', child: world.child, outcomeNumber: 1 });
    expect(await world.inbox()).toEqual([]);
  });

  it('hears how one ended that was asked before', async () => {
    const { world, start, retry } = setUp();
    await start();
    await world.become({ state: State.FAILED, outcomeNumber: 1 });
    await retry();
    await world.become({ state: State.OPEN }, {}, [retryId]);
    expect(await retry(), 'it goes on').toEqual({ kind: 'retried', child: world.child, outcomeNumber: 1 });
    await world.become({ state: State.ENDING, outcome: State.FAILED, outcomeNumber: 2 });
    expect(await retry(), 'its end is on the way').toMatchObject({ kind: 'retried', outcomeNumber: 1 });
    await world.become({ state: State.FAILED });
    expect(await retry()).toMatchObject({ kind: 'ended', end: { outcome: State.FAILED, outcomeNumber: 2 } });
    expect(await world.inbox()).toEqual([]);
  });
});
