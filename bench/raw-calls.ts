// Calls of a module by a bare gRPC client: no engine, nothing durable, nothing repeated.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials } from '@grpc/grpc-js';
import { ProcessRequestSchema, ProcessResponseSchema } from '../proto/gen/weir/module/v1/module_pb.js';

const identity = (bytes: Buffer): Buffer => bytes;

export const processMethod = {
  path: '/weir.module.v1.Module/Process',
  requestStream: false,
  responseStream: false,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
} as const;

const payloadKey = new TextEncoder().encode('payload');
const timeoutMs = 10_000;

export class RawCaller {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  /** The three steps of the flow, one after the other. */
  async callThrice(rowkey: Uint8Array, payload: Uint8Array): Promise<void> {
    let value = payload;
    for (const step of ['first', 'second', 'third']) {
      const callKey = `1/bench/three-steps/item/${step}/1`;
      const call = { timeoutMs: BigInt(timeoutMs), callKey, attempt: 1, epoch: 1n, step };
      const request = create(ProcessRequestSchema, { rowkey, fields: [{ key: payloadKey, value }], ...call });
      const answer = fromBinary(ProcessResponseSchema, await this.#call(toBinary(ProcessRequestSchema, request)));
      value = answer.fields[0]?.value ?? payload;
    }
  }

  close(): void {
    this.#client.close();
  }

  #call(request: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + timeoutMs };
      const done = (error: Error | null, answer?: Buffer) => (answer ? resolve(answer) : reject(error));
      this.#client.makeUnaryRequest(processMethod.path, identity, identity, Buffer.from(request), options, done);
    });
  }
}
