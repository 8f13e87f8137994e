import { describe, expect, it } from 'vitest';
import { OfferVerdict } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { latin1, shardOf } from '../store/run-name.ts';
import { run, SpoutWorld } from './spout-fixture.ts';

describe('the link to a dispatch', () => {
  it('begins with Hello, then the backlog', async () => {
    const world = new SpoutWorld();
    const spout = world.spout();
    const dispatch = await world.dispatch(spout);
    await world.clock.advance(0);
    expect(dispatch.received.map(({ message }) => message.case)).toEqual(['hello', 'backlog']);
    expect(dispatch.received[0]?.message.value).toMatchObject({ spoutId: 'spout-1', incarnation: 'spout-1-first' });
  });

  it('offers a run as the spout saw it', async () => {
    const world = new SpoutWorld();
    const spout = world.spout();
    await world.create('a', { level: 3, order: 77, bytes: 1_234 });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(100);
    const offer = dispatch.offers[0];
    expect(offer).toMatchObject({ level: 3, business: 'mail', order: 77n, bytes: 1_234n });
    expect(offer?.fence).toMatchObject({ epoch: 0n, version: 1n });
    expect(offer?.run?.shard).toBe(shardOf(run('a'), world.store.shards));
    expect(latin1(offer?.run?.id ?? new Uint8Array())).toBe(run('a'));
  });

  it('never offers more runs or bytes than the credits allow; new credits replace the old', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    for (let order = 1; order <= 6; order++) await world.create(`run-${order}`, { order, bytes: 40 });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.verdict = OfferVerdict.TAKEN;
    dispatch.credit(5, 100);
    await world.clock.advance(500);
    expect(dispatch.offered).toEqual(['run-1', 'run-2']);
    dispatch.credit(1, 100);
    await world.clock.advance(500);
    expect(dispatch.offered).toEqual(['run-1', 'run-2', 'run-3']);
    dispatch.credit(0, 100);
    await world.clock.advance(500);
    expect(dispatch.offered).toHaveLength(3);
  });

  it('takes off what is still on the way when credits come, in runs and in bytes', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    for (let order = 1; order <= 9; order++) await world.create(`run-${order}`, { order, bytes: 40 });
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(3);
    await world.clock.advance(500);
    expect(dispatch.offers.map(({ number }) => number)).toEqual([1n, 2n, 3n]);
    dispatch.credit(4, 1_000, 1);
    await world.clock.advance(500);
    expect(dispatch.offered).toHaveLength(5);
    dispatch.credit(9, 120, 3);
    await world.clock.advance(500);
    expect(dispatch.offered).toHaveLength(6);
    dispatch.credit(2, 1_000, 3);
    await world.clock.advance(500);
    expect(dispatch.offered).toHaveLength(6);
  });

  it('takes back the credits of an offer that nobody answered, unless the dispatch has spoken since', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a');
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(4_000);
    expect(dispatch.offered).toEqual(['a']);
    await world.clock.advance(3_000);
    expect(dispatch.offered).toEqual(['a', 'a']);
    dispatch.credit(0);
    await world.clock.advance(20_000);
    expect(dispatch.offered).toEqual(['a', 'a']);
  });

  it('offers to the dispatch with the most free credits', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    for (let order = 1; order <= 6; order++) await world.create(`run-${order}`, { order });
    await spout.start();
    const small = await world.dispatch(spout, 'small');
    const large = await world.dispatch(spout, 'large');
    small.credit(2);
    large.credit(4);
    await world.clock.advance(100);
    expect([small.offered.length, large.offered.length]).toEqual([2, 4]);
    expect(large.offered.slice(0, 2)).toEqual(['run-1', 'run-2']);
  });
});
