import type { StatusObject } from '@grpc/grpc-js';
import { Code, type ErrorOrigin } from './error.ts';

/** What this side saw of the call that ended. */
export interface Seen {
  /** The peer sent response headers before the call ended. */
  readonly answered: boolean;
  /** This side aborted the call. */
  readonly aborted: boolean;
}

/**
 * Where the status of an ended call comes from. grpc-js makes a status of its own where none came from the peer, and says
 * the difference only in words. Those words are of the pinned version; the tests that break connections for real notice
 * when a new version chooses others. In doubt an UNAVAILABLE is `lost`, the answer that never repeats a call blindly.
 */
export function originOf({ code, details, metadata }: StatusObject, { answered, aborted }: Seen): ErrorOrigin {
  // A status that grpc-js made carries no metadata; one that came alone carries at least its content type.
  if (Object.keys(metadata.getMap()).length > 0) return 'peer';
  if (aborted) return 'local';
  if (code === Code.DEADLINE_EXCEEDED)
    return /waiting for (LB pick|name resolution|metadata filters)/i.test(details) ? 'unsent' : 'local';
  if (code === Code.RESOURCE_EXHAUSTED) {
    if (/^Received message (larger than max|that decompresses)/.test(details)) return 'oversized';
    if (details.startsWith('Attempted to send message with a size larger')) return 'local';
  }
  if (unsent.test(details)) return 'unsent';
  if (lost.test(details) || code === Code.CANCELLED) return 'lost';
  if (answered) return 'peer';
  return code === Code.UNAVAILABLE ? 'lost' : 'local';
}

const unsent =
  /^(No connection established|Name resolution failed|Stream refused by server|Failed to start HTTP\/2 stream|Channel has been shut down|The channel has been closed)/;
const lost = /^(Connection dropped|Received RST_STREAM|Bandwidth exhausted|read |write )|ECONNRESET|EPIPE|ETIMEDOUT/;
