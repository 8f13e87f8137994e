import { describe, expect, it } from 'vitest';
import { OfferVerdict } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { SpoutWorld } from './spout-fixture.ts';

describe('offering ready runs', () => {
  it('goes by level, then order, across all shards', async () => {
    const world = new SpoutWorld(8);
    const spout = world.spout({ pageEntries: 2 });
    const names = Array.from({ length: 40 }, (_, index) => ({
      key: `run-${index}`,
      level: 1 + (index % 3),
      order: 100 - index,
    }));
    for (const { key, level, order } of names) await world.create(key, { level, order });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(40);
    await world.clock.advance(0);
    const expected = names.toSorted((a, b) => a.level - b.level || a.order - b.order).map(({ key }) => key);
    expect(dispatch.offered).toEqual(expected);
  });

  it('finds a run that becomes ready while it is idle', async () => {
    const world = new SpoutWorld();
    const spout = world.spout();
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(1_000);
    await world.create('late');
    await world.clock.advance(250);
    expect(dispatch.offered).toEqual(['late']);
  });

  it('goes on at once when credits come back', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    for (let order = 1; order <= 3; order++) await world.create(`run-${order}`, { order });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    for (let offered = 1; offered <= 3; offered++) {
      dispatch.credit(1);
      await world.clock.advance(0);
      expect(dispatch.offered).toHaveLength(offered);
    }
  });

  it('sees a better run that was written behind its place, once it begins again', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    for (let order = 1; order <= 10; order++) await world.create(`run-${order}`, { level: 5, order });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(10);
    await world.create('first', { level: 1, order: 99 });
    await world.clock.advance(1_000);
    dispatch.credit(1);
    await world.clock.advance(0);
    expect(dispatch.offered).toEqual(['run-1', 'first']);
  });

  it('offers a declined run again after a rest, a taken one not at all', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a');
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.verdict = OfferVerdict.DECLINED;
    dispatch.credit(10);
    await world.clock.advance(200);
    expect(dispatch.offered).toEqual(['a']);
    dispatch.verdict = OfferVerdict.TAKEN;
    await world.clock.advance(300);
    expect(dispatch.offered).toEqual(['a', 'a']);
    await world.clock.advance(4_000);
    expect(dispatch.offered).toEqual(['a', 'a']);
  });

  it('offers elsewhere at once what a closed link was offered', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a');
    await spout.start();
    const first = await world.dispatch(spout, 'dispatch-1');
    first.credit(1);
    await world.clock.advance(10);
    const second = await world.dispatch(spout, 'dispatch-2');
    second.credit(1);
    await world.clock.advance(10);
    expect([first.offered, second.offered]).toEqual([['a'], []]);
    first.close();
    await world.clock.advance(10);
    expect(second.offered).toEqual(['a']);
  });

  it('tells which levels wait: on connect, on change and again and again', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a', { level: 2, order: 1 });
    await world.create('b', { level: 4, order: 1 });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    await world.clock.advance(0);
    expect(dispatch.backlog).toBe(0b1010);
    const late = await world.dispatch(spout, 'dispatch-2');
    await world.clock.advance(0);
    expect(late.backlog).toBe(0b1010);
    dispatch.credit(1);
    await world.clock.advance(0);
    expect(dispatch.backlog).toBe(0b1000);
    dispatch.verdict = OfferVerdict.TAKEN;
    dispatch.credit(1);
    await world.clock.advance(0);
    expect(dispatch.backlog).toBe(0);
    const told = late.received.length;
    await world.clock.advance(2_500);
    expect(late.received.length).toBeGreaterThanOrEqual(told + 2);
  });

  it('costs little while idle', async () => {
    const world = new SpoutWorld(4);
    const spout = world.spout();
    let scans = 0;
    const scan = world.store.scan.bind(world.store);
    world.store.scan = (request) => {
      scans++;
      return scan(request);
    };
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(10_000);
    // Per second: 5 ready, 10 timer, 1 lease and 5 inbox scans of each shard.
    expect(scans).toBeLessThan(10 * 4 * 25);
    expect(dispatch.received.length).toBeLessThan(20);
  });

  it('goes on with the other shards when one fails, and with that one when it is back', async () => {
    const world = new SpoutWorld(4);
    const spout = world.spout();
    for (let order = 1; order <= 20; order++) await world.create(`run-${order}`, { order });
    const scan = world.store.scan.bind(world.store);
    let broken = true;
    let refused = 0;
    world.store.scan = (request) => {
      if (!broken || request.shard !== 2) return scan(request);
      refused++;
      return Promise.reject(new Error('the disk is away'));
    };
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(20);
    await world.clock.advance(60_000);
    const whileBroken = new Set(dispatch.offered);
    expect(whileBroken.size).toBeGreaterThan(0);
    expect(whileBroken.size).toBeLessThan(20);
    // The rests grow to about five seconds.
    expect(refused).toBeLessThan(30);
    expect(spout.storeErrors).toBe(refused);
    expect(world.errors[0]).toMatch(/^scanning \w+ entries of shard 2: Error: the disk is away$/);
    broken = false;
    await world.clock.advance(10_000);
    expect(new Set(dispatch.offered).size).toBe(20);
  });
});
