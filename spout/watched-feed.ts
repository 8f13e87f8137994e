// A link that is sure to end: when its other end says nothing at first, whatever state its connection is in.

import type { Clock } from '../platform/clock/clock.ts';
import type { Channel } from '../platform/rpc/channel.ts';
import type { FromDispatch, FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';

export type FeedChannel = Channel<FromSpout, FromDispatch>;

/** Time for the first word of a dispatch, in ms. It says at once what it can take; gRPC itself gives no connection up that nobody answers. */
const firstWordMs = 10_000;

/** The same channel; `closed` is told of its end after whoever it is given to. */
export function watchedFeed(channel: FeedChannel, clock: Clock, closed: () => void): FeedChannel {
  let isOver = false;
  let tell: () => void = () => {};
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    timer.cancel();
    tell();
    closed();
  };
  const timer = clock.after(firstWordMs, () => {
    channel.close();
    over();
  });
  return {
    send: (message) => channel.send(message),
    listen: (listener) => {
      channel.listen((message) => {
        timer.cancel();
        listener(message);
      });
    },
    close: () => {
      isOver = true;
      timer.cancel();
      channel.close();
    },
    onClose: (listener) => {
      tell = listener;
      channel.onClose(over);
    },
  };
}
