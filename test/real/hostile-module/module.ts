// A module that misbehaves in every way it is asked to. Written against module.proto and plain grpc-js, without our SDK.
//
// usage: node module.ts HOST:PORT

import { createServer, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Metadata, Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import {
  type ProcessRequest,
  ProcessRequestSchema,
  ProcessResponseSchema,
  type ReturnCode,
} from '../../../proto/gen/weir/module/v1/module_pb.js';
import { behaviourOf } from './behaviour.ts';

type Call = ServerWritableStream<ProcessRequest, Buffer>;

/** Sockets by the address of their other end, so that a call can cut its own connection. */
const sockets = new Map<string, Socket>();

const behaviours: Record<string, (call: Call, rowkey: Uint8Array, argument: string) => void> = {
  code: (call, rowkey, code) =>
    reply(
      call,
      code === 'absent' ? { rowkey } : { rowkey, code: Number(code) as ReturnCode, message: text(`code ${code}`) },
    ),
  rowkey: (call, _, which) => reply(call, which === 'absent' ? { code: 0 } : { code: 0, rowkey: text('another') }),
  garbage: (call) => raw(call, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
  huge: (call, rowkey) =>
    reply(call, { code: 0, rowkey, fields: [{ key: text('x'), value: new Uint8Array(5_000_000) }] }),
  two: (call, rowkey) => {
    call.write(encoded({ code: 0, rowkey }));
    reply(call, { code: 0, rowkey });
  },
  no: (call) => call.end(),
  hang: () => {},
  late: (call, rowkey) => {
    const deadline = call.getDeadline();
    const leftMs = (typeof deadline === 'number' ? deadline : deadline.getTime()) - Date.now();
    setTimeout(() => reply(call, { code: 0, rowkey }), leftMs + 50);
  },
  status: (call, _, argument) => {
    const [code, headers] = argument.split('-');
    if (headers !== undefined) call.sendMetadata(new Metadata());
    call.emit('error', { code: Number(code), details: `status ${code} – 过载`, metadata: new Metadata() });
  },
  drop: (call) => sockets.get(call.getPeer())?.destroy(),
  exit: () => process.exit(3),
};

function serve(call: Call): void {
  const rowkey = call.request.rowkey ?? new Uint8Array();
  const [kind = '', ...rest] = behaviourOf(rowkey).split('-');
  const behave = behaviours[kind];
  if (behave) behave(call, rowkey, rest.join('-'));
  else reply(call, { code: 0, rowkey });
}

type Response = Parameters<typeof create<typeof ProcessResponseSchema>>[1];

function reply(call: Call, response: Response): void {
  raw(call, encoded(response));
}

function raw(call: Call, bytes: Buffer): void {
  call.write(bytes);
  call.end();
}

function encoded(response: Response): Buffer {
  return Buffer.from(toBinary(ProcessResponseSchema, create(ProcessResponseSchema, response)));
}

function text(value: string): Uint8Array {
  return Uint8Array.from(Buffer.from(value));
}

function main(): void {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [host = '', port = ''] = positionals[0]?.split(':') ?? [];
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1 });
  server.addService(
    {
      // As a stream of answers, because two and none are answers too; on the wire there is no difference.
      process: {
        path: '/weir.module.v1.Module/Process',
        requestStream: false,
        responseStream: true,
        requestDeserialize: (bytes: Buffer) => fromBinary(ProcessRequestSchema, bytes),
        requestSerialize: (request: ProcessRequest) => Buffer.from(toBinary(ProcessRequestSchema, request)),
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
      },
    },
    { process: serve },
  );
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createServer((socket) => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    socket.once('close', () => sockets.delete(peer));
    socket.on('error', () => {});
    injector.injectConnection(socket);
  });
  listener.listen(Number(port), host, () => console.log('ready'));
}

main();
