// A link to a dispatch over gRPC.

import type { Channel } from '../platform/rpc/channel.ts';
import { type Client, connect } from '../platform/rpc/client.ts';
import { RpcError } from '../platform/rpc/error.ts';
import { StreamChannel } from '../platform/rpc/stream-channel.ts';
import { Feed, type FromDispatch, type FromSpout } from '../proto/gen/weir/feed/v1/feed_pb.js';

/** A spout's backlog is told every second, a dispatch may have nothing to say: silence this long, in ms, is looked into. */
const keepaliveMs = 5_000;

/**
 * Opens the link to the dispatch at `address` (`host:port`). When it can't be reached the channel ends, which is told like any
 * other end. `onError` hears what is neither.
 */
export function openFeed(
  address: string,
  onError: (error: unknown, doing: string) => void,
): Channel<FromSpout, FromDispatch> {
  const client = connect(Feed, address, { keepaliveMs });
  const stream = client.connect();
  const channel = new StreamChannel<FromSpout, FromDispatch>(stream.responses);
  void pump(client, stream, channel).catch((error: unknown) => onError(error, `feeding ${address}`));
  return channel;
}

async function pump(
  client: Client<typeof Feed>,
  stream: ReturnType<Client<typeof Feed>['connect']>,
  channel: StreamChannel<FromSpout, FromDispatch>,
): Promise<void> {
  try {
    for await (const message of channel.outgoing()) await stream.send(message);
    stream.end();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
  } finally {
    channel.end();
    stream.cancel();
    client.close();
  }
}
