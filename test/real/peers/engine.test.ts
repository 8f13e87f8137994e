// Tools of others against the engine, without any of our .proto files: they ask by reflection.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callFromPython, grpcurl, healthProbeProgram, run, type Server, startServer } from './programs.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function submission(key: string): unknown {
  const fields = [{ key: base64('text'), value: base64('weir') }];
  return { items: [{ business: 'test', flow: 'upper', key: base64(key), fields }] };
}

function question(key: string): unknown {
  return { run: { business: 'test', flow: 'upper', key: base64(key) }, withFields: true };
}

interface Answer {
  readonly run: { readonly status: { readonly state: string }; readonly fields: unknown };
}

/** Asks until the run has ended. */
async function ended(ask: () => Promise<unknown>): Promise<Answer['run']> {
  for (;;) {
    const { run } = (await ask()) as Answer;
    if (run.status.state === 'STATE_SUCCEEDED') return run;
  }
}

describe('the engine', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(process.execPath, `${import.meta.dirname}/engine.ts`);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it('is listed by grpcurl', async () => {
    const { stdout } = await grpcurl(server.address, 'list');
    expect(stdout.trim().split('\n')).toEqual([
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'weir.directory.v1.Directory',
      'weir.flow.v1.Businesses',
      'weir.flow.v1.Flows',
      'weir.flow.v1.Routes',
      'weir.runs.v1.Runs',
    ]);
  });

  it.each([
    ['weir.runs.v1.Runs', 'rpc SubmitStream ( stream .weir.runs.v1.SubmitStreamRequest )'],
    ['weir.runs.v1.Item', 'repeated .weir.module.v1.Field fields = 4;'],
    ['weir.run.v1.State', 'STATE_PARKED = 2;'],
    ['weir.flow.v1.Flows.Push', 'rpc Push ( .weir.flow.v1.PushRequest )'],
  ])('has its %s described by grpcurl', async (symbol, line) => {
    expect((await grpcurl(server.address, 'describe', symbol)).stdout).toContain(line);
  });

  it('tells its health', async () => {
    const { stdout } = await grpcurl(server.address, 'grpc.health.v1.Health/Check');
    expect(JSON.parse(stdout)).toEqual({ status: 'SERVING' });
    expect((await run(healthProbeProgram, `-addr=${server.address}`, '-service=weir.runs.v1.Runs')).code).toBe(0);
  });

  it('takes an item from grpcurl and shows its run', async () => {
    const call = async (method: string, request: unknown): Promise<unknown> => {
      const { stdout } = await grpcurl('-d', JSON.stringify(request), server.address, `weir.runs.v1.Runs/${method}`);
      return JSON.parse(stdout) as unknown;
    };
    expect(await call('Submit', submission('from-grpcurl'))).toMatchObject({
      results: [{ accepted: { run: { key: base64('from-grpcurl'), generation: 1 }, created: true } }],
    });
    const { fields } = await ended(() => call('Get', question('from-grpcurl')));
    expect(fields).toContainEqual({ writer: 'upper', name: 'upper', cell: { value: base64('WEIR') } });
  });

  it('takes an item from Python and shows its run', async () => {
    const call = (method: string, request: unknown) =>
      callFromPython(server.address, `weir.runs.v1.Runs/${method}`, request);
    expect(await call('Submit', submission('from-python'))).toMatchObject({
      results: [{ accepted: { created: true } }],
    });
    const { fields } = await ended(() => call('Get', question('from-python')));
    expect(fields).toContainEqual({ writer: 'upper', name: 'upper', cell: { value: base64('WEIR') } });
  });

  it('names what it refuses', async () => {
    const method = 'weir.runs.v1.Runs/Get';
    const { code, stderr } = await grpcurl('-d', JSON.stringify(question('nobody')), server.address, method);
    expect(code).toBe(64 + 5);
    expect(stderr).toContain('there is no run test/upper/nobody');
  });
});
