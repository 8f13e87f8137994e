import { describe, expect, it } from 'vitest';
import { channelPair } from '../platform/rpc/channel.ts';
import { type FromDispatch, type FromSpout, OfferVerdict } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { AlarmKind } from '../proto/gen/weir/run/v1/run_pb.js';
import { SpoutWorld } from './spout-fixture.ts';

const askAfterMs = 10_000;

async function setUp() {
  const world = new SpoutWorld();
  const spout = world.spout();
  const holder = await world.dispatch(spout, 'holder');
  const other = await world.dispatch(spout, 'other');
  const leaseMs = world.clock.nowMs() + askAfterMs;
  await world.create('held', { heldBy: holder, entries: { ready: false, leaseMs } });
  other.credit(5);
  return { world, spout, holder, other };
}

describe('looking after leases', () => {
  it('asks a holder only when the lease is due', async () => {
    const { world, spout, holder } = await setUp();
    await spout.start();
    await world.clock.advance(askAfterMs - 1);
    expect(holder.asked).toEqual([]);
    await world.clock.advance(2_000);
    expect(holder.asked).toEqual(['held']);
    const question = holder.received.find(({ message }) => message.case === 'holdQuestion')?.message.value;
    expect(question).toMatchObject({ holderIncarnation: 'holder-first', fence: { epoch: 1n, version: 1n } });
  });

  it('offers the run when the holder says no', async () => {
    const { world, spout, holder, other } = await setUp();
    holder.holds = false;
    await spout.start();
    await world.clock.advance(askAfterMs + 2_000);
    expect(other.offered).toEqual(['held']);
  });

  it('leaves it with a holder that says yes, and alarms once when that lasts', async () => {
    const { world, spout, holder, other } = await setUp();
    holder.holds = true;
    await spout.start();
    await world.clock.advance(askAfterMs + 700_000);
    expect(other.offered).toEqual([]);
    const { alarms } = await world.store.alarms(10);
    expect(alarms).toHaveLength(1);
    expect(alarms[0]).toMatchObject({ kind: AlarmKind.HOLDER_STUCK, business: 'mail', flow: 'intake', count: 1n });
    expect(alarms[0]?.message).toContain('mail/intake/held has been held by holder for 10 minutes');
  });

  it('raises the alarm later when it could not be stored', async () => {
    const { world, spout, holder } = await setUp();
    holder.holds = true;
    const raise = world.store.raise.bind(world.store);
    let failures = 2;
    world.store.raise = (alarm) => (failures-- > 0 ? Promise.reject(new Error('full')) : raise(alarm));
    await spout.start();
    await world.clock.advance(askAfterMs + 650_000);
    expect((await world.store.alarms(10)).alarms).toHaveLength(1);
    expect(world.errors).toHaveLength(2);
  });

  it('asks again when no answer comes, and gives nothing away for that', async () => {
    const { world, spout, holder, other } = await setUp();
    await spout.start();
    await world.clock.advance(askAfterMs + 60_000);
    expect(holder.asked.length).toBeGreaterThan(10);
    expect(other.offered).toEqual([]);
  });

  it('does not ask while the fence moves', async () => {
    const { world, spout, holder } = await setUp();
    holder.holds = true;
    await spout.start();
    await world.clock.advance(askAfterMs + 1_500);
    expect(holder.asked).toHaveLength(1);
    for (let commits = 0; commits < 20; commits++) {
      await world.commit('held');
      await world.clock.advance(5_000);
    }
    expect(holder.asked).toHaveLength(1);
  });

  it('offers the run of a holder that is gone, after the grace', async () => {
    const { world, spout, holder, other } = await setUp();
    other.verdict = OfferVerdict.TAKEN;
    await spout.start();
    await world.clock.advance(askAfterMs);
    holder.close();
    await world.membership.leave(holder.member);
    await world.clock.advance(11_900);
    expect(other.offered).toEqual([]);
    await world.clock.advance(1_500);
    expect(other.offered).toEqual(['held']);
  });

  it('a link on which a holder has said nothing is no sign of it: once it is gone its runs are offered', async () => {
    const { world, spout, holder, other } = await setUp();
    await spout.start();
    holder.close();
    const [begun] = channelPair<FromSpout, FromDispatch>((action) => world.clock.soon(action));
    spout.connect(holder.member, begun);
    await world.membership.leave(holder.member);
    await world.clock.advance(askAfterMs + 60_000);
    expect(new Set(other.offered)).toEqual(new Set(['held']));
  });

  it('steals nothing from a holder that membership has lost while its link stands', async () => {
    const { world, spout, holder, other } = await setUp();
    await spout.start();
    await world.membership.leave(holder.member);
    await world.clock.advance(60_000);
    expect(holder.asked.length).toBeGreaterThan(0);
    expect(other.offered).toEqual([]);
  });

  it('steals nothing from a holder that is there and has no link', async () => {
    const { world, spout, holder, other } = await setUp();
    await spout.start();
    holder.close();
    await world.clock.advance(60_000);
    expect(other.offered).toEqual([]);
  });

  it('recovers at once after a restart: leases are looked at before they are due', async () => {
    const { world, holder } = await setUp();
    holder.close();
    await world.membership.leave(holder.member);
    await world.clock.advance(12_000);
    const leaseMs = world.clock.nowMs() + askAfterMs;
    await world.create('fresh', { heldBy: holder, entries: { ready: false, leaseMs } });
    const spout = world.spout({}, 'spout-2');
    const dispatch = await world.dispatch(spout, 'dispatch-2');
    dispatch.credit(5);
    await spout.start();
    await world.clock.advance(10);
    expect(dispatch.offered.toSorted()).toEqual(['fresh', 'held']);
  });

  it('recovers more runs than can wait at once', async () => {
    const world = new SpoutWorld();
    const spout = world.spout({ maxUrgent: 5, pageEntries: 3 });
    const gone = await world.dispatch(spout, 'gone');
    const leaseMs = world.clock.nowMs() + 3_600_000;
    for (let order = 1; order <= 40; order++) {
      await world.create(`run-${order}`, { order, heldBy: gone, entries: { ready: false, leaseMs } });
    }
    gone.close();
    await world.membership.leave(gone.member);
    await world.clock.advance(12_000);
    await spout.start();
    const dispatch = await world.dispatch(spout);
    dispatch.verdict = OfferVerdict.TAKEN;
    for (let turn = 0; turn < 20; turn++) {
      dispatch.credit(4);
      await world.clock.advance(500);
    }
    expect(new Set(dispatch.offered).size).toBe(40);
  });
});
