// A server for tests that says what its test tells it to: what a real one can't be made to say.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { MutateRowsResponseSchema } from '../../../proto/gen/hbase/client_pb.js';
import { RegionInfoSchema } from '../../../proto/gen/hbase/region_pb.js';
import { type RequestHeader, RequestHeaderSchema, ResponseHeaderSchema } from '../../../proto/gen/hbase/rpc_pb.js';
import { FrameReader, readMessage } from './frame.ts';
import * as methods from './methods.ts';

export interface Request {
  readonly header: RequestHeader;
  readonly body: Uint8Array;
  readonly socket: Socket;
  answer<O extends DescMessage>(method: methods.Method<DescMessage, O>, message: MessageInitShape<O>): void;
  /** `className` with its package. */
  fail(className: string, details?: { readonly message?: string; readonly doNotRetry?: boolean }): void;
  /** Any bytes instead of an answer. */
  say(bytes: Uint8Array): void;
}

/** Answers the requests of one method; what has none is never answered. */
export type Script = Partial<Record<string, (request: Request) => void>>;

const maxRequestBytes = 16 * 1024 * 1024;

/** Knows one table, of one region that it has itself. */
export class ScriptedServer {
  readonly requests: Request[] = [];
  readonly sockets: Socket[] = [];
  script: Script = {};
  readonly #server: Server = createServer((socket) => this.#serve(socket));

  static async listen(): Promise<ScriptedServer> {
    const scripted = new ScriptedServer();
    scripted.#server.listen(0, '127.0.0.1');
    await once(scripted.#server, 'listening');
    return scripted;
  }

  get address(): string {
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  count(method: string): number {
    return this.requests.filter(({ header }) => header.methodName === method).length;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Answers of the catalogue: the table's only region is at `address`. */
  catalogue(table: string, address: () => string = () => this.address): Script {
    return {
      GetMetaRegionLocations: (request) =>
        request.answer(methods.getMetaRegionLocations, { metaLocations: [{ serverName: serverName(this.address) }] }),
      Scan: (request) =>
        request.answer(methods.scan, { results: [regionResult(table, address())], moreResults: false }),
    };
  }

  #serve(socket: Socket): void {
    this.sockets.push(socket);
    socket.on('error', () => {});
    const reader = new FrameReader(maxRequestBytes);
    let preambleBytes: number | undefined;
    let waiting = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      waiting = Buffer.concat([waiting, chunk]);
      if (preambleBytes === undefined && waiting.length >= 10) {
        preambleBytes = 10 + waiting.readInt32BE(6);
        waiting = waiting.subarray(preambleBytes);
      }
      if (preambleBytes === undefined) return;
      for (const frame of reader.push(waiting)) this.#receive(socket, frame);
      waiting = Buffer.alloc(0);
    });
  }

  #receive(socket: Socket, frame: Buffer): void {
    const parts = new BinaryReader(frame);
    const header = readMessage(RequestHeaderSchema, parts.bytes());
    const respond = (response: MessageInitShape<typeof ResponseHeaderSchema>, message?: Uint8Array) => {
      const head = toBinary(ResponseHeaderSchema, create(ResponseHeaderSchema, { callId: header.callId, ...response }));
      socket.write(frameOf(message === undefined ? [head] : [head, message]));
    };
    const request: Request = {
      header,
      body: parts.bytes(),
      socket,
      answer: (method, message) =>
        respond({}, toBinary<DescMessage>(method.output, create<DescMessage>(method.output, message))),
      fail: (exceptionClassName, { message = 'as the test wants', doNotRetry = false } = {}) =>
        respond({
          exception: { exceptionClassName, stackTrace: `${exceptionClassName}: ${message}\n\tat x`, doNotRetry },
        }),
      say: (bytes) => void socket.write(bytes),
    };
    this.requests.push(request);
    this.script[header.methodName]?.(request);
  }
}

/** What Multi answers to one group: whether its conditions held, or an exception of the group. */
export function groupAnswer(answer: boolean | string): MessageInitShape<typeof methods.multi.output> {
  const value = toBinary(MutateRowsResponseSchema, create(MutateRowsResponseSchema, { processed: answer === true }));
  const result =
    typeof answer === 'string'
      ? { exception: { name: answer, value: Buffer.from(`${answer}: as the test wants`) } }
      : { serviceResult: { value: { name: 'MutateRowsResponse', value } } };
  return { regionActionResult: [{ resultOrException: [{ index: 0, ...result }] }] };
}

/** Parts, each after its length, in a frame. */
function frameOf(parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts.flatMap((part) => [varint(part.length), part]));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}

function varint(value: number): Buffer {
  return value < 0x80 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), varint(value >>> 7)]);
}

function serverName(address: string): { hostName: string; port: number } {
  const [hostName = '', port] = address.split(':');
  return { hostName, port: Number(port) };
}

function regionResult(table: string, address: string) {
  const row = Buffer.from(`${table},,1.hash.`);
  const tableName = { namespace: Buffer.from('default'), qualifier: Buffer.from(table) };
  const info = create(RegionInfoSchema, {
    regionId: 1n,
    tableName,
    startKey: Buffer.alloc(0),
    endKey: Buffer.alloc(0),
  });
  const cell = (qualifier: string, value: Uint8Array) => ({ row, qualifier: Buffer.from(qualifier), value });
  return {
    cell: [
      cell('regioninfo', Buffer.concat([Buffer.from('PBUF'), toBinary(RegionInfoSchema, info)])),
      cell('server', Buffer.from(address)),
    ],
  };
}
