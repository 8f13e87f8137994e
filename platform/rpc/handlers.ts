import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Metadata } from '@grpc/grpc-js';

/** What a handler knows about its call besides the request. */
export interface CallContext {
  /**
   * Aborted when nobody waits for the answer any more: deadline, cancellation, broken connection, forced stop of the server.
   * Its reason is an RpcError. It never fires after the handler has settled.
   */
  readonly signal: AbortSignal;
  /** Aborted when the server begins to stop. A stream that would be held open for ever ends then. */
  readonly stopping: AbortSignal;
  /** Milliseconds since 1970; absent when the caller waits without end. */
  readonly deadlineMs?: number;
  readonly metadata: Metadata;
  /** Address of the caller, for people. */
  readonly peer: string;
}

/**
 * The handler of one method. Messages may be given as plain init objects. Streams are async iterables: requests are read only
 * as fast as they are consumed, responses are produced only as fast as the caller reads.
 */
export type Handler<M extends MethodTypes> = M['methodKind'] extends 'unary'
  ? (request: MessageShape<M['input']>, context: CallContext) => Promise<MessageInitShape<M['output']>>
  : M['methodKind'] extends 'server_streaming'
    ? (request: MessageShape<M['input']>, context: CallContext) => AsyncIterable<MessageInitShape<M['output']>>
    : M['methodKind'] extends 'bidi_streaming'
      ? (
          requests: AsyncIterable<MessageShape<M['input']>>,
          context: CallContext,
        ) => AsyncIterable<MessageInitShape<M['output']>>
      : never; // client_streaming: no service of ours has one.

export type Handlers<S extends DescService> = { readonly [K in keyof S['method']]: Handler<S['method'][K]> };

/** Answers to requests that could not be decoded, by method. Without one the caller gets INVALID_ARGUMENT. */
export type UndecodableAnswers<S extends DescService> = {
  readonly [K in keyof S['method']]?: (problem: string) => MessageInitShape<S['method'][K]['output']>;
};

/** A service with its handlers, as a server takes it. */
export interface ImplementedService {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, UntypedHandler>>;
  readonly undecodable: Readonly<Record<string, ((problem: string) => UntypedInit) | undefined>>;
}

type MethodTypes = Pick<DescMethod, 'input' | 'output' | 'methodKind'>;
export type UntypedInit = MessageInitShape<DescMessage>;
// The typed view ends at `implement`: a server calls handlers of all services alike.
export type UntypedHandler = (request: never, context: CallContext) => Promise<unknown> | AsyncIterable<unknown>;

/** Binds handlers to a service, checked against its types. */
export function implement<S extends DescService>(
  service: S,
  handlers: Handlers<S>,
  undecodable: UndecodableAnswers<S> = {},
): ImplementedService {
  return { service, handlers, undecodable };
}
