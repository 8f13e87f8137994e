import { describe, expect, it } from 'vitest';
import { OfferVerdict } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import { SpoutWorld } from './spout-fixture.ts';

async function setUp() {
  const world = new SpoutWorld();
  const spout = world.spout();
  const dispatch = await world.dispatch(spout);
  dispatch.credit(10);
  dispatch.verdict = OfferVerdict.TAKEN;
  await spout.start();
  return { world, dispatch };
}

const asleep = { ready: false };

describe('looking after inboxes', () => {
  it('nudges the holder of a held run, now and then, and never offers it', async () => {
    const { world, dispatch } = await setUp();
    await world.create('held', { heldBy: dispatch, entries: { ready: false, leaseMs: world.clock.nowMs() + 60_000 } });
    await world.post('held', 'event', 'cancel');
    await world.clock.advance(300);
    expect(dispatch.nudged).toEqual(['held']);
    await world.clock.advance(10_000);
    expect(dispatch.nudged.length).toBeGreaterThan(6);
    expect(dispatch.nudged.length).toBeLessThan(12);
    expect(dispatch.offered).toEqual([]);
  });

  it('offers an open run that nobody holds, and a terminal one', async () => {
    const { world, dispatch } = await setUp();
    await world.create('open', { entries: asleep });
    await world.create('failed', { state: State.FAILED, entries: asleep });
    await world.post('open', 'event', 'level');
    await world.post('failed', 'event', 'level');
    await world.clock.advance(300);
    expect(dispatch.offered.toSorted()).toEqual(['failed', 'open']);
  });

  it('offers a parked run for a release or a cancel only', async () => {
    const { world, dispatch } = await setUp();
    for (const key of ['waits', 'released', 'cancelled'])
      await world.create(key, { state: State.PARKED, entries: asleep });
    for (const key of ['waits', 'released', 'cancelled']) await world.post(key, 'first', 'level');
    await world.clock.advance(3_000);
    expect(dispatch.offered).toEqual([]);
    await world.post('released', 'second', 'release');
    await world.post('cancelled', 'second', 'cancel');
    await world.clock.advance(1_500);
    expect(dispatch.offered.toSorted()).toEqual(['cancelled', 'released']);
  });

  it('leaves an ending run alone until it has ended, and offers it then', async () => {
    const { world, dispatch } = await setUp();
    await world.create('ending', {
      state: State.ENDING,
      entries: { ready: false, timerMs: world.clock.nowMs() + 60_000 },
    });
    await world.post('ending', 'event', 'level');
    await world.clock.advance(3_000);
    expect(dispatch.offered).toEqual([]);
    await world.commit('ending', asleep, State.FAILED);
    await world.clock.advance(300);
    expect(dispatch.offered).toEqual(['ending']);
  });

  it('offers a run that was let go with an event that it left, without waiting', async () => {
    const { world, dispatch } = await setUp();
    await world.create('held', { heldBy: dispatch, entries: { ready: false, leaseMs: world.clock.nowMs() + 60_000 } });
    await world.post('held', 'event', 'level');
    await world.clock.advance(300);
    expect(dispatch.nudged).toEqual(['held']);
    await world.commit('held', asleep, State.FAILED);
    await world.clock.advance(300);
    expect(dispatch.offered).toEqual(['held']);
  });

  it('offers again when the offer got lost', async () => {
    const { world, dispatch } = await setUp();
    dispatch.verdict = undefined;
    await world.create('open', { entries: asleep });
    await world.post('open', 'event', 'cancel');
    await world.clock.advance(4_000);
    expect(dispatch.offered).toEqual(['open']);
    await world.clock.advance(4_000);
    expect(dispatch.offered).toEqual(['open', 'open']);
  });
});
