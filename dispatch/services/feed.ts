// weir.feed.v1.Feed: the links that spouts open to this dispatch.

import { type ImplementedService, implement } from '../../platform/rpc/handlers.ts';
import { StreamChannel } from '../../platform/rpc/stream-channel.ts';
import { Feed, type FromDispatch, type FromSpout } from '../../proto/gen/weir/feed/v1/feed_pb.js';
import type { Dispatch } from '../dispatch.ts';

/** A link lives until its spout ends it, its connection breaks, or the server stops. */
export function feedService(dispatch: Pick<Dispatch, 'connect'>): ImplementedService {
  return implement(Feed, {
    connect: async function* (requests, { stopping }) {
      const channel = new StreamChannel<FromDispatch, FromSpout>(requests);
      const stop = (): void => channel.end();
      stopping.addEventListener('abort', stop);
      if (stopping.aborted) stop();
      try {
        dispatch.connect(channel);
        yield* channel.outgoing();
      } finally {
        stopping.removeEventListener('abort', stop);
        channel.end();
      }
    },
  });
}
