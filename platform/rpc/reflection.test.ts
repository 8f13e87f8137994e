import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from '../../proto/gen/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionAlpha } from '../../proto/gen/grpc/reflection/v1alpha/reflection_pb.js';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { connect } from './client.ts';
import { Code } from './error.ts';
import { type Handlers, implement } from './handlers.ts';
import { type RunningServer, startServer } from './server.ts';

let server: RunningServer;
beforeAll(async () => {
  const nothing = Object.fromEntries(Runs.methods.map(({ localName }) => [localName, async () => ({})]));
  server = await startServer({
    address: '127.0.0.1:0',
    services: [implement(Runs, nothing as unknown as Handlers<typeof Runs>)],
    onError: () => {},
  });
});
afterAll(() => server.stop(0));

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>['messageRequest'];

/** Asks on one stream; the answers come in order. */
async function ask(...questions: NonNullable<Question>[]): Promise<ServerReflectionResponse[]> {
  const client = connect(ServerReflection, `127.0.0.1:${server.port}`);
  const stream = client.serverReflectionInfo();
  for (const messageRequest of questions) await stream.send({ host: 'h', messageRequest });
  stream.end();
  const answers: ServerReflectionResponse[] = [];
  for await (const answer of stream.responses) answers.push(answer);
  client.close();
  return answers;
}

describe('reflection', () => {
  it('lists all services, itself and health included', async () => {
    const [answer] = await ask({ case: 'listServices', value: '' });
    expect(answer?.messageResponse.value).toMatchObject({
      service: [
        { name: 'weir.runs.v1.Runs' },
        { name: 'grpc.health.v1.Health' },
        { name: 'grpc.reflection.v1.ServerReflection' },
        { name: 'grpc.reflection.v1alpha.ServerReflection' },
      ],
    });
    expect(answer?.originalRequest?.messageRequest.case).toBe('listServices');
    expect(answer?.validHost).toBe('h');
  });

  it.each([
    'weir.runs.v1.Runs',
    'weir.runs.v1.Runs.Submit',
    'weir.runs.v1.Refusal',
    'weir.run.v1.State',
    'weir.module.v1.Field',
    'google.protobuf.Timestamp',
    'grpc.health.v1.HealthCheckResponse.ServingStatus',
  ])('finds %s, with all files it needs', async (value) => {
    const [answer] = await ask({ case: 'fileContainingSymbol', value });
    if (answer?.messageResponse.case !== 'fileDescriptorResponse') throw new Error('not found');
    const files = answer.messageResponse.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    const names = new Set(files.map(({ name }) => name));
    expect(names.size).toBe(files.length);
    expect(files.flatMap(({ dependency }) => dependency).filter((name) => !names.has(name))).toEqual([]);
  });

  it('finds files by name', async () => {
    const [found] = await ask({ case: 'fileByFilename', value: 'weir/module/v1/module.proto' });
    expect(found?.messageResponse.case).toBe('fileDescriptorResponse');
  });

  it('answers what it cannot find inside the stream', async () => {
    const answers = await ask(
      { case: 'fileByFilename', value: 'nothing.proto' },
      { case: 'fileContainingSymbol', value: 'weir.Nothing' },
      { case: 'allExtensionNumbersOfType', value: 'weir.runs.v1.Run' },
      { case: 'fileContainingExtension', value: { containingType: 'weir.runs.v1.Run', extensionNumber: 7 } },
    );
    expect(answers.map(({ messageResponse }) => messageResponse.value)).toMatchObject([
      { errorCode: Code.NOT_FOUND, errorMessage: 'file nothing.proto is not part of this server' },
      { errorCode: Code.NOT_FOUND },
      { errorCode: Code.UNIMPLEMENTED },
      { errorCode: Code.UNIMPLEMENTED },
    ]);
  });

  it('speaks the alpha version too', async () => {
    const client = connect(ServerReflectionAlpha, `127.0.0.1:${server.port}`);
    const stream = client.serverReflectionInfo();
    await stream.send({ messageRequest: { case: 'fileContainingSymbol', value: 'weir.runs.v1.Runs' } });
    for await (const answer of stream.responses) {
      expect(answer.messageResponse.case).toBe('fileDescriptorResponse');
      break;
    }
    client.close();
  });
});
