// The bytes of HBase's RPC protocol. A frame is a length of 4 bytes, then a header and, when there is one, a message, each after its
// own length as a varint.

import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  ConnectionHeaderSchema,
  RequestHeaderSchema,
  type ResponseHeader,
  ResponseHeaderSchema,
} from '../../../proto/gen/hbase/rpc_pb.js';
import type { Service } from './methods.ts';

/** What a connection begins with: version 0, authentication by name only ("simple"), who we are and whom we want. */
export function preamble(service: Service, user: string): Buffer {
  const header = toBinary(
    ConnectionHeaderSchema,
    create(ConnectionHeaderSchema, { serviceName: service, userInfo: { effectiveUser: user } }),
  );
  const start = Buffer.from([...Buffer.from('HBas'), 0, 80, 0, 0, 0, 0]);
  start.writeInt32BE(header.length, 6);
  return Buffer.concat([start, header]);
}

/** `timeoutMs` tells the server when nobody waits for the answer any more. */
export function requestFrame(callId: number, methodName: string, timeoutMs: number, message: Uint8Array): Buffer {
  const header = toBinary(
    RequestHeaderSchema,
    create(RequestHeaderSchema, { callId, methodName, requestParam: true, timeout: timeoutMs }),
  );
  const length = varintBytes(header.length) + header.length + varintBytes(message.length) + message.length;
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeInt32BE(length, 0);
  let at = writeVarint(frame, 4, header.length);
  frame.set(header, at);
  at = writeVarint(frame, at + header.length, message.length);
  frame.set(message, at);
  return frame;
}

export interface Response {
  readonly header: ResponseHeader;
  /** The undecoded message; empty beside an exception. */
  readonly message: Uint8Array;
}

/** Throws on bytes that are none of the protocol's. */
export function readResponse(frame: Buffer): Response {
  const [header, next] = readDelimited(frame, 0);
  const response = fromBinary(ResponseHeaderSchema, header);
  if (response.exception !== undefined) return { header: response, message: nothing };
  return { header: response, message: readDelimited(frame, next)[0] };
}

/** Decodes a message of a response. Throws on bytes that are none. */
export function readMessage<O extends DescMessage>(schema: O, message: Uint8Array): MessageShape<O> {
  return fromBinary(schema, message);
}

/** Cuts what arrives into frames. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #received = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes what arrived and returns the frames that are complete now, without their lengths. Throws on an impossible length. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    const frames: Buffer[] = [];
    for (let length = this.#nextLength(); this.#received >= 4 + length; length = this.#nextLength()) {
      const all = this.#joined();
      frames.push(all.subarray(4, 4 + length));
      this.#chunks = [all.subarray(4 + length)];
      this.#received -= 4 + length;
    }
    return frames;
  }

  // Infinity as long as it isn't known. A large frame is joined once, when it is complete.
  #nextLength(): number {
    if (this.#received < 4) return Number.POSITIVE_INFINITY;
    const first = this.#chunks[0]!.length >= 4 ? this.#chunks[0]! : this.#joined();
    const length = first.readInt32BE(0);
    if (length <= 0 || length > this.#maxBytes) {
      throw new RangeError(`a frame of ${length} bytes; 1 to ${this.#maxBytes} are allowed`);
    }
    return length;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }
}

const nothing = new Uint8Array();
const maxVarintBytes = 5;

function readDelimited(frame: Buffer, start: number): [content: Uint8Array, next: number] {
  let length = 0;
  let at = start;
  for (;;) {
    const byte = frame[at];
    if (byte === undefined || at - start >= maxVarintBytes)
      throw new RangeError(`no length at byte ${start} of a frame`);
    length += (byte & 0x7f) * 2 ** (7 * (at - start));
    at += 1;
    if (byte < 0x80) break;
  }
  if (at + length > frame.length) throw new RangeError(`a frame of ${frame.length} bytes ends before ${at + length}`);
  return [frame.subarray(at, at + length), at + length];
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

function writeVarint(target: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) target[at++] = (rest & 0x7f) | 0x80;
  target[at++] = rest;
  return at;
}
