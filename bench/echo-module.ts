// A module without an SDK that answers what it was sent: what is left of a call when the work is nothing.
// Also the other end of the floor, so that both are measured against the same process: node echo-module.ts PORT ENDPOINTS

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import {
  FieldSchema,
  type ProcessRequest,
  ProcessRequestSchema,
  type ProcessResponse,
  ProcessResponseSchema,
  ReturnCode,
} from '../proto/gen/weir/module/v1/module_pb.js';
import { processMethod } from './raw-calls.ts';

const [, , port = '0', endpoints = '1'] = process.argv;
const encoder = new TextEncoder();
/** What each step calls its output; a step keeps the one that it declares. */
const outputs = ['first', 'second', 'third'].map((name) => encoder.encode(name));

const server = new Server();
server.addService(
  {
    process: {
      ...processMethod,
      requestDeserialize: (bytes: Buffer) => fromBinary(ProcessRequestSchema, bytes),
      responseSerialize: (response: ProcessResponse) => Buffer.from(toBinary(ProcessResponseSchema, response)),
    },
  },
  { process: echo },
);
let lastCalls = 0;

const addresses = await Promise.all(Array.from({ length: Number(endpoints) }, () => listen(server, port)));
process.send?.({ address: addresses[0], addresses });
// Any message asks how many last steps were called: so it is seen that all is done without asking the store.
process.on('message', () => process.send?.({ lastCalls }));
process.on('disconnect', () => process.exit(0));

function listen(on: Server, at: string): Promise<string> {
  return new Promise((resolve, reject) => {
    on.bindAsync(`127.0.0.1:${at}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(`127.0.0.1:${bound}`);
    });
  });
}

function echo(call: ServerUnaryCall<ProcessRequest, ProcessResponse>, answer: sendUnaryData<ProcessResponse>): void {
  const { rowkey, fields, step } = call.request;
  const key = outputs[['first', 'second', 'third'].indexOf(step ?? 'first')];
  const field = create(FieldSchema, { ...(key && { key }), ...(fields[0]?.value && { value: fields[0].value }) });
  if (step === 'third') lastCalls++;
  answer(null, create(ProcessResponseSchema, { code: ReturnCode.SUCC, ...(rowkey && { rowkey }), fields: [field] }));
}
