import { Channel, credentials } from '@grpc/grpc-js';
import { defaultMaxMessageBytes } from '../../platform/rpc/limits.ts';

/** A channel to one endpoint, which connects when it is first asked to. One process answers behind it. */
export function openChannel(target: string): Channel {
  return new Channel(target, credentials.createInsecure(), {
    // One retry layer, the engine's: it counts every call that may have been processed. Also off are the "transparent"
    // retries, so that every refusal is seen.
    'grpc.enable_retries': 0,
    // Two modules at one address, or one process after another at it, must not share a connection and its state.
    'grpc.use_local_subchannel_pool': 1,
    // Milliseconds; a module that starts again is called within about a second of its listening.
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    // Milliseconds without traffic before a ping. It finds a machine that vanished without a word while no call is out, and
    // servers of the C core and Go cut connections that ping more often than every five minutes.
    'grpc.keepalive_time_ms': 330_000,
    'grpc.keepalive_timeout_ms': 10_000,
    // Milliseconds; the longest there is. A connection is kept, so that the first call after a quiet hour finds it open.
    'grpc.client_idle_timeout_ms': 2 ** 31 - 1,
    // Bytes. A larger answer is a violation of the contract; requests are measured before they are sent.
    'grpc.max_receive_message_length': defaultMaxMessageBytes,
    'grpc.max_send_message_length': defaultMaxMessageBytes,
    // Endpoints are addressed directly, whatever the environment says about proxies.
    'grpc.enable_http_proxy': 0,
    // Statistics that nobody reads cost several microseconds a call.
    'grpc.enable_channelz': 0,
  });
}
