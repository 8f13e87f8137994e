import { describe, expect, it } from 'vitest';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { InProcessMembership } from '../platform/coordination/in-process-membership.ts';
import type { Member } from '../platform/coordination/membership.ts';
import { type Channel, channelPair } from '../platform/rpc/channel.ts';
import type { FromDispatch, FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';
import type { DispatchIdentity } from './dispatch-link.ts';
import { FeedClient } from './feed-client.ts';

function dispatch(processId: string, incarnation = 'first'): Member {
  const address = `${processId}:1`;
  return { role: 'dispatch', processId, incarnation: `${processId}-${incarnation}`, address, unit: '', capacity: 1 };
}

class World {
  readonly clock = new ManualClock();
  readonly membership = new InProcessMembership(this.clock);
  readonly linked: string[] = [];
  /** The dispatches' ends of the links, by address. */
  readonly ends = new Map<string, Channel<FromDispatch, FromSpout>>();
  readonly feed = new FeedClient(
    {
      connect: ({ incarnation }: DispatchIdentity, channel: Channel<FromSpout, FromDispatch>) => {
        this.linked.push(incarnation);
        channel.onClose(() => {});
        channel.listen(() => {});
      },
    },
    {
      clock: this.clock,
      random: () => 1,
      membership: this.membership,
      unit: '',
      open: (address) => {
        const [ofSpout, ofDispatch] = channelPair<FromSpout, FromDispatch>((action) => this.clock.soon(action));
        this.ends.set(address, ofDispatch);
        return ofSpout;
      },
    },
  );

  breakLink(address: string): Promise<void> {
    this.ends.get(address)?.close();
    return this.clock.advance(1);
  }
}

describe('the feed of a spout', () => {
  it('links to every dispatch there is, once', async () => {
    const world = new World();
    await world.membership.join(dispatch('a'));
    world.feed.start();
    await world.membership.join(dispatch('b'));
    await world.membership.join({ ...dispatch('s'), role: 'spout' });
    await world.membership.join({ ...dispatch('c'), unit: 'elsewhere' });
    expect(world.linked).toEqual(['a-first', 'b-first']);
  });

  it('links again when a link ends, with growing pauses', async () => {
    const world = new World();
    await world.membership.join(dispatch('a'));
    world.feed.start();
    for (const [count, pauseMs] of [200, 400, 800, 1_600, 2_000, 2_000].entries()) {
      await world.breakLink('a:1');
      await world.clock.advance(pauseMs - 2);
      expect(world.linked).toHaveLength(count + 1);
      await world.clock.advance(1);
      expect(world.linked).toHaveLength(count + 2);
    }
    await world.clock.advance(3_000);
    await world.breakLink('a:1');
    await world.clock.advance(100);
    expect(world.linked, 'a link that lived forgets the failures before it').toHaveLength(8);
  });

  it('links to a new incarnation, and no more to one that is gone', async () => {
    const world = new World();
    await world.membership.join(dispatch('a'));
    world.feed.start();
    await world.membership.leave(dispatch('a'));
    await world.breakLink('a:1');
    await world.clock.advance(10_000);
    expect(world.linked).toEqual(['a-first']);
    await world.membership.join(dispatch('a', 'second'));
    expect(world.linked).toEqual(['a-first', 'a-second']);
  });

  it('gives up the way to a dispatch that goes while it waits', async () => {
    const world = new World();
    await world.membership.join(dispatch('a'));
    world.feed.start();
    await world.breakLink('a:1');
    await world.membership.leave(dispatch('a'));
    await world.clock.advance(10_000);
    expect(world.linked).toEqual(['a-first']);
  });

  it('opens nothing after it has stopped', async () => {
    const world = new World();
    await world.membership.join(dispatch('a'));
    world.feed.start();
    await world.breakLink('a:1');
    world.feed.stop();
    await world.membership.join(dispatch('b'));
    await world.clock.advance(10_000);
    expect(world.linked).toEqual(['a-first']);
  });
});
