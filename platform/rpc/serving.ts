// From our handlers to grpc-js handlers.
//
// A call belongs to the function that serves it. grpc-js emits 'cancelled' for every call that ends, also when it ended well.
// 1. The signal of a call fires at most once, and only while its handler runs.
// 2. Exactly one status is sent per call; after a cancellation none is.
// 3. A response is pulled from the handler only when the one before fits into the send buffer.
// 4. Leaving a call, however it ends, closes the handler's response iterator, so its `finally` blocks run.

import type { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { DescMethod } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import type {
  handleUnaryCall,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
  StatusObject,
  UntypedHandleCall,
} from '@grpc/grpc-js';
import { encoder, Undecodable } from './definition.ts';
import { Code, RpcError, toStatus } from './error.ts';
import type { CallContext, ImplementedService, UntypedHandler, UntypedInit } from './handlers.ts';

export interface ServingOptions {
  /** The status of what a handler threw that isn't an RpcError and no bug either. */
  readonly known: (thrown: unknown) => RpcError | undefined;
  /** Gets what a handler threw and was neither, with the path of the method. */
  readonly onError: (error: unknown, path: string) => void;
  readonly stopping: AbortSignal;
}

/** What all kinds of calls have. */
type OpenCall = Pick<
  ServerUnaryCall<unknown, unknown>,
  'cancelled' | 'metadata' | 'getPath' | 'getPeer' | 'getDeadline'
> &
  EventEmitter;
type DuplexCall = ServerDuplexStream<unknown, unknown>;

/** The implementation that grpc-js wants beside `serviceDefinition`. */
export function serving(implemented: ImplementedService, options: ServingOptions): Record<string, UntypedHandleCall> {
  return Object.fromEntries(
    implemented.service.methods.map((method) => [method.localName, servingMethod(method, implemented, options)]),
  );
}

function servingMethod(
  method: DescMethod,
  implemented: ImplementedService,
  options: ServingOptions,
): UntypedHandleCall {
  const handler = implemented.handlers[method.localName];
  if (!handler) throw new TypeError(`${method.toString()} has no handler`);
  const statusOf = (thrown: unknown, call: OpenCall): StatusObject =>
    toStatus(options.known(thrown) ?? thrown, (error) => options.onError(error, call.getPath()));
  switch (method.methodKind) {
    case 'unary':
      return unary(method, handler, implemented.undecodable[method.localName], options.stopping, statusOf);
    case 'server_streaming':
      return (call: ServerWritableStream<unknown, unknown>) =>
        stream(
          call,
          method,
          (context) => responses(handler, decoded(call.request), context),
          options.stopping,
          statusOf,
        );
    case 'bidi_streaming':
      return (call: DuplexCall) =>
        stream(
          call,
          method,
          (context) => responses(handler, requests(call) as never, context),
          options.stopping,
          statusOf,
        );
    case 'client_streaming':
      throw new TypeError(`${method.toString()}: client streaming is not served`);
  }
}

type StatusOf = (thrown: unknown, call: OpenCall) => StatusObject;

function unary(
  method: DescMethod,
  handler: UntypedHandler,
  undecodable: ((problem: string) => UntypedInit) | undefined,
  stopping: AbortSignal,
  statusOf: StatusOf,
): handleUnaryCall<unknown, unknown> {
  const encode = encoder(method.output);
  const answer = async (request: unknown, context: CallContext): Promise<UntypedInit> => {
    if (request instanceof Undecodable && undecodable) return undecodable(request.message);
    return (await handler(decoded(request), context)) as UntypedInit;
  };
  const serve: (...parameters: Parameters<handleUnaryCall<unknown, unknown>>) => Promise<void> = async (
    call,
    callback,
  ) => {
    const { context, settle } = openCall(call, stopping);
    try {
      const response = encode(create(method.output, await answer(call.request, context)));
      settle();
      callback(null, response);
    } catch (thrown) {
      settle();
      callback(statusOf(thrown, call));
    }
  };
  return (call, callback) => void serve(call, callback);
}

function stream(
  call: ServerWritableStream<unknown, unknown> | DuplexCall,
  method: DescMethod,
  respond: (context: CallContext) => AsyncIterable<UntypedInit>,
  stopping: AbortSignal,
  statusOf: StatusOf,
): void {
  const { context, settle } = openCall(call, stopping);
  pour(call, method, respond, context)
    .then(() => {
      if (!call.cancelled) call.end();
    })
    .catch((thrown: unknown) => {
      // A caller that has gone hears nothing, and the echo of its going, thrown out of the handler, is no bug.
      if (call.cancelled && thrown instanceof RpcError) return;
      const status = statusOf(thrown, call);
      // grpc-js sends a status with this event.
      if (!call.cancelled) call.emit('error', status);
    })
    .finally(settle);
}

async function pour(
  call: ServerWritableStream<unknown, unknown> | DuplexCall,
  method: DescMethod,
  respond: (context: CallContext) => AsyncIterable<UntypedInit>,
  context: CallContext,
): Promise<void> {
  const encode = encoder(method.output);
  for await (const response of respond(context)) {
    if (call.cancelled) return;
    if (!call.write(encode(create(method.output, response)))) await room(call, context.signal);
  }
}

/** Settles when the call takes more responses, or when it has ended. */
function room(call: ServerWritableStream<unknown, unknown> | DuplexCall, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.once('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** A handler may throw before it returns its iterable: here that is part of the iteration. */
async function* responses(handler: UntypedHandler, request: never, context: CallContext): AsyncIterable<UntypedInit> {
  yield* handler(request, context) as AsyncIterable<UntypedInit>;
}

/**
 * Requests of a stream. Leaving the loop early leaves the call open: responses may still be sent. The stream's own iterator is
 * not used: when a handler throws while a request is awaited, it would destroy the call before its status is sent.
 */
async function* requests(call: DuplexCall): AsyncGenerator {
  while (true) {
    const request: unknown = call.read();
    if (request !== null) yield decoded(request);
    else if (call.readableEnded || call.destroyed) break;
    else await moved(call);
  }
  // A cancelled call ends its requests first and says that it is cancelled a moment later.
  await setImmediate();
  if (call.cancelled) throw new RpcError(Code.CANCELLED, 'the caller has gone');
}

/** Settles when a request has come, or none will come any more. */
function moved(call: DuplexCall): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const event of movements) call.off(event, done);
      resolve();
    };
    for (const event of movements) call.on(event, done);
  });
}

const movements = ['readable', 'end', 'close'] as const;

function decoded(request: unknown): never {
  if (request instanceof Undecodable) {
    throw new RpcError(Code.INVALID_ARGUMENT, `request is ${request.message}`, { cause: request.cause });
  }
  return request as never;
}

function openCall(call: OpenCall, stopping: AbortSignal): { context: CallContext; settle: () => void } {
  const controller = new AbortController();
  let running = true;
  const deadline = call.getDeadline();
  const deadlineMs = typeof deadline === 'number' ? deadline : deadline.getTime();
  call.once('cancelled', () => {
    if (!running) return;
    const late = Date.now() >= deadlineMs;
    controller.abort(
      late
        ? new RpcError(Code.DEADLINE_EXCEEDED, 'deadline exceeded')
        : new RpcError(Code.CANCELLED, 'the caller has gone'),
    );
  });
  return {
    context: {
      signal: controller.signal,
      stopping,
      ...(Number.isFinite(deadlineMs) ? { deadlineMs } : {}),
      metadata: call.metadata,
      peer: call.getPeer(),
    },
    settle: () => {
      running = false;
    },
  };
}
