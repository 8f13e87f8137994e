// Typed clients: promises for unary calls, async iterables for streams.
//
// A client owns one channel to one address. Calls belong to those who make them.
// 1. Nothing is ever repeated here: the engine has one retry layer, and it counts.
// 2. Every call ends with a response or an RpcError that says where the error comes from.
// 3. An ended call leaves no listener on the caller's signal.

import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import { Client as Channel, type CallOptions as ChannelCallOptions, credentials, Metadata } from '@grpc/grpc-js';
import { methodDefinition, Undecodable } from './definition.ts';
import { Code, RpcError } from './error.ts';
import { defaultMaxMessageBytes, maxTimeoutMs } from './limits.ts';
import { originOf } from './origin.ts';
import { type Duplex, openStream } from './stream.ts';

export interface ConnectOptions {
  /** Bytes of one response; default `defaultMaxMessageBytes`. A larger one is an RpcError of origin `oversized`. */
  readonly maxReceiveBytes?: number;
  /** Bytes of one request; default `defaultMaxMessageBytes`. A larger one is not sent. */
  readonly maxSendBytes?: number;
  /**
   * Longest pause between attempts to connect, in milliseconds; default 2,000: an endpoint that comes back is used within
   * seconds, one that is gone costs next to nothing.
   */
  readonly maxReconnectMs?: number;
  /**
   * Milliseconds of silence after which the connection is asked whether it lives; without an answer for as long again it counts
   * as broken. Default: never, since calls have deadlines; for streams that are held and may be silent.
   */
  readonly keepaliveMs?: number;
}

export interface CallOptions {
  /** Milliseconds until the call ends as DEADLINE_EXCEEDED; 1 to `maxTimeoutMs`. It travels to the server. */
  readonly timeoutMs: number;
  /** Ends the call as CANCELLED. */
  readonly signal?: AbortSignal;
  readonly metadata?: Metadata;
}

/** A stream may be held without end, so its time is optional. */
export type StreamOptions = Partial<CallOptions>;

type MethodTypes = Pick<DescMethod, 'input' | 'output' | 'methodKind'>;
type Call<M extends MethodTypes> = M['methodKind'] extends 'unary'
  ? (request: MessageInitShape<M['input']>, options: CallOptions) => Promise<MessageShape<M['output']>>
  : M['methodKind'] extends 'server_streaming'
    ? (request: MessageInitShape<M['input']>, options?: StreamOptions) => AsyncIterable<MessageShape<M['output']>>
    : M['methodKind'] extends 'bidi_streaming'
      ? (options?: StreamOptions) => Duplex<MessageInitShape<M['input']>, MessageShape<M['output']>>
      : never; // client_streaming: no service of ours has one.

/** The methods of a service, and `close`, which ends the channel: calls still out fail. */
export type Client<S extends DescService> = { readonly [K in keyof S['method']]: Call<S['method'][K]> } & {
  close(this: void): void;
};

/** A client for one service at `host:port`. It connects with its first call. */
export function connect<S extends DescService>(service: S, address: string, options: ConnectOptions = {}): Client<S> {
  const channel = new Channel(address, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
    // Without it all channels of a process to one address share a connection, and behind one address stand several processes.
    'grpc.use_local_subchannel_pool': 1,
    // Nothing is looked up by a proxy of the environment: endpoints are addressed directly.
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.initial_reconnect_backoff_ms': Math.min(100, options.maxReconnectMs ?? 2_000),
    'grpc.max_reconnect_backoff_ms': options.maxReconnectMs ?? 2_000,
    ...(options.keepaliveMs !== undefined && {
      'grpc.keepalive_time_ms': options.keepaliveMs,
      'grpc.keepalive_timeout_ms': options.keepaliveMs,
    }),
    'grpc.max_receive_message_length': options.maxReceiveBytes ?? defaultMaxMessageBytes,
    'grpc.max_send_message_length': options.maxSendBytes ?? defaultMaxMessageBytes,
  });
  const calls = service.methods.map((method) => [method.localName, callOf(channel, method)]);
  return { ...Object.fromEntries(calls), close: () => channel.close() } as Client<S>;
}

function callOf(channel: Channel, method: DescMethod): unknown {
  const definition = methodDefinition(method);
  switch (method.methodKind) {
    case 'unary':
      return (request: MessageInitShape<DescMessage>, options: CallOptions) =>
        unaryCall(channel, method, definition, request, options);
    case 'server_streaming':
      return (request: MessageInitShape<DescMessage>, options: StreamOptions = {}) =>
        openStream(
          channel.makeServerStreamRequest(
            definition.path,
            definition.requestSerialize,
            definition.responseDeserialize,
            create(method.input, request),
            options.metadata ?? new Metadata(),
            channelCallOptions(options),
          ),
          method,
          options.signal,
        ).responses;
    case 'bidi_streaming':
      return (options: StreamOptions = {}) =>
        openStream(
          channel.makeBidiStreamRequest(
            definition.path,
            definition.requestSerialize,
            definition.responseDeserialize,
            options.metadata ?? new Metadata(),
            channelCallOptions(options),
          ),
          method,
          options.signal,
        );
    case 'client_streaming':
      throw new TypeError(`${method.toString()}: client streaming is not supported`);
  }
}

function unaryCall(
  channel: Channel,
  method: DescMethod,
  definition: ReturnType<typeof methodDefinition>,
  request: MessageInitShape<DescMessage>,
  options: CallOptions,
): Promise<MessageShape<DescMessage>> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new RpcError(Code.CANCELLED, 'aborted before the call', { origin: 'local', cause: signal.reason }));
      return;
    }
    let answered = false;
    const call = channel.makeUnaryRequest(
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize,
      create(method.input, request),
      options.metadata ?? new Metadata(),
      channelCallOptions(options),
      (error, response) => {
        signal?.removeEventListener('abort', abort);
        if (error) {
          const origin = originOf(error, { answered, aborted: signal?.aborted ?? false });
          reject(new RpcError(error.code, error.details, { origin, cause: error }));
        } else if (response instanceof Undecodable) {
          const { message, cause } = response;
          reject(new RpcError(Code.INTERNAL, `response is ${message}`, { origin: 'undecodable', cause }));
        } else resolve(response as MessageShape<DescMessage>);
      },
    );
    const abort = (): void => call.cancel();
    call.on('metadata', () => {
      answered = true;
    });
    signal?.addEventListener('abort', abort);
  });
}

function channelCallOptions({ timeoutMs }: StreamOptions): ChannelCallOptions {
  if (timeoutMs === undefined) return {};
  if (!(timeoutMs >= 1 && timeoutMs <= maxTimeoutMs)) {
    throw new RangeError(`timeoutMs is ${timeoutMs}, allowed are 1 to ${maxTimeoutMs}`);
  }
  return { deadline: Date.now() + timeoutMs };
}
