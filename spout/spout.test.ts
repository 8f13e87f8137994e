import { describe, expect, it } from 'vitest';
import { OfferVerdict } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { SpoutSettingsError } from './settings.ts';
import { run, SpoutWorld, spoutMember } from './spout-fixture.ts';

describe('Spout', () => {
  it('refuses settings outside their range', () => {
    expect(() => new SpoutWorld().spout({ scanEveryMs: 0 })).toThrow(SpoutSettingsError);
  });

  it('shares the shards with the other spouts, as they come and go', async () => {
    const world = new SpoutWorld(64);
    const one = world.spout({}, 'spout-1');
    const two = world.spout({}, 'spout-2');
    await one.start();
    expect(one.shards).toHaveLength(64);
    await two.start();
    await world.clock.advance(500);
    expect(one.shards.length).toBeLessThan(36);
    expect(two.shards).toEqual([]);
    await world.clock.advance(1_000);
    expect([...one.shards, ...two.shards].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 64 }, (_, shard) => shard),
    );
    await two.stop();
    await world.clock.advance(500);
    expect(one.shards).toHaveLength(64);
    expect([one.sharedShards, two.sharedShards]).toEqual([0, 0]);
    expect(world.membership.members('spout')).toEqual([spoutMember('spout-1')]);
  });

  it('shares no shards with spouts of another unit', async () => {
    const world = new SpoutWorld(16);
    const spout = world.spout();
    await world.membership.join({ ...spoutMember('elsewhere'), unit: 'another' });
    await spout.start();
    await world.clock.advance(5_000);
    expect(spout.shards).toHaveLength(16);
  });

  it('offers each run of all shards once between two spouts', async () => {
    const world = new SpoutWorld(16);
    const spouts = [world.spout({}, 'spout-1'), world.spout({}, 'spout-2')];
    for (let order = 1; order <= 50; order++) await world.create(`run-${order}`, { order });
    for (const spout of spouts) await spout.start();
    const links = [];
    for (const [index, spout] of spouts.entries()) links.push(await world.dispatch(spout, `dispatch-${index}`));
    for (const link of links) link.credit(50);
    await world.clock.advance(1_000);
    const offered = links.flatMap((link) => link.offered);
    expect(offered).toHaveLength(50);
    expect(new Set(offered).size).toBe(50);
  });

  it('finds the runs of shards that it takes over', async () => {
    const world = new SpoutWorld(16);
    const one = world.spout({}, 'spout-1');
    const two = world.spout({}, 'spout-2');
    await one.start();
    await two.start();
    await world.clock.advance(2_000);
    const dispatch = await world.dispatch(one);
    dispatch.verdict = OfferVerdict.TAKEN;
    dispatch.credit(50);
    for (let order = 1; order <= 50; order++) await world.create(`run-${order}`, { order });
    await world.clock.advance(1_000);
    expect(dispatch.offered.length).toBeLessThan(50);
    await two.stop();
    await world.clock.advance(510);
    expect(dispatch.offered).toHaveLength(50);
  });

  it('offers nothing more of a shard that it gives up, not even what it has read or what waits for credits', async () => {
    const world = new SpoutWorld(16);
    const one = world.spout({}, 'spout-1');
    await one.start();
    const dispatch = await world.dispatch(one);
    for (let order = 1; order <= 50; order++) await world.create(`run-${order}`, { order });
    await world.create('late', { entries: { ready: true, timerMs: world.clock.nowMs() } });
    await world.clock.advance(1_000);
    const two = world.spout({}, 'spout-2');
    await two.start();
    await world.clock.advance(5_000);
    dispatch.credit(100);
    await world.clock.advance(2_000);
    const shards = new Set(dispatch.offers.map(({ run: offered }) => offered?.shard));
    expect(shards.size).toBeGreaterThan(0);
    expect([...shards].filter((shard) => !one.shards.includes(shard ?? -1))).toEqual([]);
  });

  it('begins nothing while the others may be taking over, and goes on when they are not', async () => {
    const world = new SpoutWorld(2);
    const spout = world.spout();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(10);
    await spout.start();
    world.membership.setSafe(false);
    await world.create('ready');
    await world.create('urgent', { entries: { ready: true, timerMs: world.clock.nowMs() } });
    await world.create('asleep', { entries: { ready: false, timerMs: world.clock.nowMs() } });
    await world.create('held', { heldBy: dispatch, entries: { ready: false, leaseMs: world.clock.nowMs() } });
    await world.post('held', 'e-1', 'cancel');
    await world.clock.advance(30_000);
    expect(dispatch.offered).toEqual([]);
    expect(dispatch.nudged).toContain('held');
    expect(dispatch.asked).toContain('held');
    world.membership.setSafe(true);
    await world.clock.advance(200);
    expect(dispatch.offered.toSorted()).toEqual(['asleep', 'ready', 'urgent']);
  });

  it('counts the offers that were in vain', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(10);
    await spout.start();
    for (const [key, verdict] of [
      ['known', OfferVerdict.KNOWN],
      ['gone', OfferVerdict.GONE],
      ['taken', OfferVerdict.TAKEN],
      ['declined', OfferVerdict.DECLINED],
    ] as const) {
      await world.create(key);
      await world.clock.advance(240);
      dispatch.answer(key, verdict);
      await world.commit(key, { ready: false });
    }
    await world.clock.advance(10);
    expect(dispatch.offered).toEqual(['known', 'gone', 'taken', 'declined']);
    expect(spout.offersInVain).toBe(2);
  });

  it('stops when no scan is under way, offers nothing more and ends its links', async () => {
    const world = new SpoutWorld(1);
    const spout = world.spout();
    await world.create('a');
    let answer: () => void = () => {};
    const gate = new Promise<void>((resolve) => (answer = resolve));
    const scan = world.store.scan.bind(world.store);
    world.store.scan = async (request) => {
      await gate;
      return scan(request);
    };
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.credit(1);
    await world.clock.advance(10);
    let stopped = false;
    const stopping = spout.stop().then(() => (stopped = true));
    await world.clock.advance(10);
    expect(stopped).toBe(false);
    answer();
    await stopping;
    await world.clock.advance(60_000);
    expect(dispatch.offered).toEqual([]);
    expect(world.errors).toEqual([]);
    expect(world.membership.members('spout')).toEqual([]);
    const late = await world.dispatch(spout, 'late');
    await world.clock.advance(10);
    expect(late.received).toEqual([]);
  });

  it('offers the same in the same order when everything is repeated', async () => {
    const once = async () => {
      const world = new SpoutWorld(8);
      const spout = world.spout();
      for (let order = 1; order <= 30; order++) await world.create(`run-${order}`, { level: 1 + (order % 9), order });
      await spout.start();
      const dispatches = [await world.dispatch(spout, 'a'), await world.dispatch(spout, 'b')];
      const trace: string[] = [];
      for (let turn = 0; turn < 10; turn++) {
        for (const dispatch of dispatches) dispatch.credit(2);
        await world.clock.advance(70);
        for (const dispatch of dispatches)
          for (const key of dispatch.offered) await world.commit(key, { ready: false });
        trace.push(dispatches.map(({ offered }) => offered.join()).join(' | '));
      }
      expect(await world.store.peek(run('run-1'))).toBeDefined();
      return trace;
    };
    expect(await once()).toEqual(await once());
  });
});
