import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import type { ClientDuplexStream, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { Undecodable } from './definition.ts';
import { Code, RpcError } from './error.ts';
import { originOf } from './origin.ts';

/** A held call with requests and responses. */
export interface Duplex<Request, Response> {
  /** Settles when there is room for the next request; rejects with an RpcError when the call has ended. */
  send(request: Request): Promise<void>;
  /** No more requests; responses may still come. */
  end(): void;
  /** Ends the call at once, as CANCELLED. */
  cancel(): void;
  /** To be read by one reader. Leaving the loop cancels the call. Throws an RpcError when the call fails. */
  readonly responses: AsyncIterable<Response>;
}

type Message = MessageShape<DescMessage> | Undecodable;
type Stream = ClientReadableStream<Message> | ClientDuplexStream<Message, Message>;

/** Wraps a stream of grpc-js. `signal` cancels it. */
export function openStream(
  stream: Stream,
  method: DescMethod,
  signal: AbortSignal | undefined,
): Duplex<MessageInitShape<DescMessage>, never> {
  let answered = false;
  let aborted = false;
  let ended: RpcError | undefined;
  const abort = (): void => {
    aborted = true;
    stream.cancel();
  };
  const errorOf = (error: ServiceError): RpcError =>
    new RpcError(error.code, error.details, { origin: originOf(error, { answered, aborted }), cause: error });
  stream.on('metadata', () => {
    answered = true;
  });
  stream.on('error', (error: ServiceError) => {
    ended ??= errorOf(error);
  });
  stream.on('status', () => {
    signal?.removeEventListener('abort', abort);
    ended ??= new RpcError(Code.CANCELLED, 'the call has ended');
  });
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();

  async function* responses(): AsyncGenerator<never> {
    try {
      for await (const response of stream.iterator({ destroyOnReturn: false })) {
        if (response instanceof Undecodable) {
          const { message, cause } = response;
          throw new RpcError(Code.INTERNAL, `response is ${message}`, { origin: 'undecodable', cause });
        }
        yield response as never;
      }
    } catch (thrown) {
      throw thrown instanceof RpcError ? thrown : errorOf(thrown as ServiceError);
    } finally {
      abort();
    }
  }

  return {
    send: (request) => send(stream as ClientDuplexStream<Message, Message>, create(method.input, request), () => ended),
    end: () => {
      if ('end' in stream) stream.end();
    },
    cancel: abort,
    responses: responses(),
  };
}

async function send(
  stream: ClientDuplexStream<Message, Message>,
  request: Message,
  ended: () => RpcError | undefined,
): Promise<void> {
  const error = ended();
  if (error) throw error;
  if (stream.write(request)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('status', done);
      resolve();
    };
    stream.once('drain', done);
    stream.once('status', done);
  });
  const late = ended();
  if (late) throw late;
}
