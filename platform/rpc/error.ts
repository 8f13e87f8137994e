import type { StatusObject } from '@grpc/grpc-js';
import { Metadata, status } from '@grpc/grpc-js';

/** The status codes of gRPC. */
export const Code = status;
export type Code = status;

/**
 * Where an error of a call comes from, as its caller sees it:
 * - `peer`: the other side answered with this status.
 * - `unsent`: there was no connection; the other side has not seen the request.
 * - `lost`: the connection or stream broke after the request may have been sent; nobody knows how the call ended.
 * - `undecodable`: an answer came that is not a message of its type.
 * - `oversized`: an answer came that is larger than this side takes.
 * - `local`: this side ended the call (deadline, abort) or could not send the request (too large).
 */
export type ErrorOrigin = 'peer' | 'unsent' | 'lost' | 'undecodable' | 'oversized' | 'local';

export interface RpcErrorOptions {
  /** Default `peer`: what a handler throws is what its caller is told. */
  readonly origin?: ErrorOrigin;
  readonly cause?: unknown;
}

/** An expected failure of a call. Thrown by a handler, it is the answer; thrown by a client, it is what came of the call. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: Code;
  readonly origin: ErrorOrigin;

  constructor(code: Code, message: string, options: RpcErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.origin = options.origin ?? 'peer';
  }
}

/**
 * Bytes of a status text as it travels (percent-encoded). Peers built on the C core refuse headers beyond 8 KiB together;
 * a text that is too long would cost the caller the status itself.
 */
const maxDetailsBytes = 4_096;

/**
 * The one conversion from anything that was thrown to the status a caller sees. An RpcError tells its code and text. All
 * else is a bug: the caller learns only that, `onError` gets the thing itself.
 */
export function toStatus(thrown: unknown, onError: (error: unknown) => void): StatusObject {
  if (thrown instanceof RpcError) {
    return { code: thrown.code, details: shortened(thrown.message), metadata: new Metadata() };
  }
  onError(thrown);
  return { code: Code.INTERNAL, details: 'internal error', metadata: new Metadata() };
}

/**
 * grpc-js percent-encodes the text with encodeURI, which keeps every character readable for peers but throws on a half
 * surrogate: so the text is made well-formed first.
 */
function shortened(details: string): string {
  const wellFormed = details.toWellFormed();
  if (encodeURI(wellFormed).length <= maxDetailsBytes) return wellFormed;
  let text = '';
  let left = maxDetailsBytes - encodeURI('…').length;
  for (const character of wellFormed) {
    left -= encodeURI(character).length;
    if (left < 0) break;
    text += character;
  }
  return `${text}…`;
}
