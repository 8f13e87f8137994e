import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { ManualClock } from '../platform/clock/manual-clock.ts';
import { channelPair } from '../platform/rpc/channel.ts';
import { type FromDispatch, FromDispatchSchema, type FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';
import { watchedFeed } from './watched-feed.ts';

function setUp() {
  const clock = new ManualClock();
  const [ofSpout, ofDispatch] = channelPair<FromSpout, FromDispatch>((action) => clock.soon(action));
  const ends: string[] = [];
  const feed = watchedFeed(ofSpout, clock, () => ends.push('told of the link'));
  feed.onClose(() => ends.push('told the spout'));
  feed.listen(() => {});
  return { clock, ofDispatch, feed, ends };
}

it('a link on which nothing is ever said ends', async () => {
  const { clock, ends } = setUp();
  await clock.advance(9_999);
  expect(ends).toEqual([]);
  await clock.advance(1);
  expect(ends).toEqual(['told the spout', 'told of the link']);
});

it('a link on which something was said lives until its end, which is told once', async () => {
  const { clock, ofDispatch, ends } = setUp();
  ofDispatch.send(create(FromDispatchSchema));
  await clock.advance(60_000);
  expect(ends).toEqual([]);
  ofDispatch.close();
  await clock.advance(60_000);
  expect(ends).toEqual(['told the spout', 'told of the link']);
});

it('whoever closes it is not told', async () => {
  const { clock, feed, ends } = setUp();
  feed.close();
  await clock.advance(60_000);
  expect(ends).toEqual([]);
});
