// A module without an SDK that answers what it was sent: what is left of a call when the work is nothing.
// Also the other end of the floor, so that both are measured against the same process.

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

const [, , port = '0'] = process.argv;
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
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
  if (error) throw error;
  process.send?.({ address: `127.0.0.1:${bound}` });
});
process.on('disconnect', () => process.exit(0));

function echo(call: ServerUnaryCall<ProcessRequest, ProcessResponse>, answer: sendUnaryData<ProcessResponse>): void {
  const { rowkey, fields, step } = call.request;
  const key = outputs[['first', 'second', 'third'].indexOf(step ?? 'first')];
  const field = create(FieldSchema, { ...(key && { key }), ...(fields[0]?.value && { value: fields[0].value }) });
  answer(null, create(ProcessResponseSchema, { code: ReturnCode.SUCC, ...(rowkey && { rowkey }), fields: [field] }));
}
