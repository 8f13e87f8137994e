import { describe, expect, it } from 'vitest';
import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import { run, SpoutWorld } from './spout-fixture.ts';

describe('promoting timers', () => {
  it('makes a sleeping run ready when it is due, and offers it', async () => {
    const world = new SpoutWorld();
    const spout = world.spout();
    const dueMs = world.clock.nowMs() + 1_000;
    await world.create('open', { entries: { ready: false, timerMs: dueMs } });
    await world.create('ending', { order: 2, state: State.ENDING, entries: { ready: false, timerMs: dueMs } });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(5);
    await world.clock.advance(999);
    expect(dispatch.offered).toEqual([]);
    await world.clock.advance(150);
    expect(dispatch.offered.toSorted()).toEqual(['ending', 'open']);
    expect((await world.store.load(run('open')))?.entries).toMatchObject({ ready: true });
  });

  it('promotes without a dispatch, in batches of at most 100', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout({ pageEntries: 1_000 });
    const batches: number[] = [];
    const promote = world.store.promote.bind(world.store);
    world.store.promote = (shard, due) => {
      batches.push(due.length);
      return promote(shard, due);
    };
    for (let order = 1; order <= 250; order++) {
      await world.create(`run-${order}`, { order, entries: { ready: false, timerMs: world.clock.nowMs() } });
    }
    await spout.start();
    await world.clock.advance(0);
    expect(batches).toEqual([100, 100, 50]);
  });

  it('offers a ready run whose deadline has passed ahead of others', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('before', { level: 1, order: 1 });
    await world.create('overdue', { level: 9, order: 2, entries: { ready: true, timerMs: world.clock.nowMs() - 1 } });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    await world.clock.advance(100);
    dispatch.credit(1);
    await world.clock.advance(0);
    expect(dispatch.offered).toEqual(['overdue']);
  });

  it('tries again when promoting fails', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a', { entries: { ready: false, timerMs: world.clock.nowMs() } });
    const promote = world.store.promote.bind(world.store);
    let failures = 3;
    world.store.promote = (shard, due) => (failures-- > 0 ? Promise.reject(new Error('busy')) : promote(shard, due));
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(2_000);
    expect(dispatch.offered).toEqual(['a']);
    expect(world.errors).toHaveLength(3);
  });
});
