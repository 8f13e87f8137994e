// The floor: the same calls as the engine makes, by a bare gRPC client.

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

/** Makes three calls one after the other for each of `items` items, `inFlight` items at a time. */
export async function callRaw(address: string, items: number, inFlight: number, payload: Uint8Array): Promise<void> {
  const client = new Client(address, credentials.createInsecure());
  let begun = 0;
  const encoder = new TextEncoder();
  const key = encoder.encode('payload');
  const line = async () => {
    while (begun < items) {
      const rowkey = encoder.encode(`item-${begun++}`);
      let value = payload;
      for (const step of ['first', 'second', 'third']) {
        const callKey = `1/bench/w1/item-${begun}/${step}/1`;
        const fields = [{ key, value }];
        const request = create(ProcessRequestSchema, {
          rowkey,
          fields,
          timeoutMs: 10_000n,
          callKey,
          attempt: 1,
          epoch: 1n,
          step,
        });
        const answer = fromBinary(
          ProcessResponseSchema,
          await callOnce(client, toBinary(ProcessRequestSchema, request)),
        );
        value = answer.fields[0]?.value ?? payload;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, line));
  client.close();
}

function callOnce(client: Client, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + 10_000;
    client.makeUnaryRequest(
      processMethod.path,
      identity,
      identity,
      Buffer.from(request),
      { deadline },
      (error, answer) => {
        if (error) reject(error);
        else if (answer) resolve(answer);
      },
    );
  });
}
