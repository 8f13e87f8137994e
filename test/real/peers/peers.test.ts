// Programs of others against ours, and ours against a module of another language: what a user's own tools will do.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../../platform/rpc/client.ts';
import { Code } from '../../../platform/rpc/error.ts';
import { Module, ReturnCode } from '../../../proto/gen/weir/module/v1/module_pb.js';
import { Reason, State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { Runs } from '../../../proto/gen/weir/runs/v1/runs_pb.js';
import {
  callFromPython,
  grpcurl,
  healthProbeProgram,
  pythonProgram,
  root,
  run,
  type Server,
  startServer,
} from './programs.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const method = 'weir.module.v1.Module/Process';
const request = { rowkey: base64('row'), fields: [{ key: base64('text'), value: base64('weir') }] };
const answer = {
  code: 'RETURN_CODE_SUCC',
  rowkey: base64('row'),
  fields: [{ key: base64('upper'), value: base64('WEIR') }],
};

describe('a module of the SDK', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(process.execPath, `${import.meta.dirname}/upper-module.ts`);
  });
  afterAll(() => server.stop());

  it('is listed by grpcurl', async () => {
    const { stdout } = await grpcurl(server.address, 'list');
    expect(stdout.trim().split('\n')).toEqual([
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'weir.module.v1.Module',
    ]);
  });

  it.each([
    ['weir.module.v1.Module', 'rpc ProcessStream ( stream .weir.module.v1.CallBatch )'],
    ['weir.module.v1.Module.Process', 'rpc Process ( .weir.module.v1.ProcessRequest )'],
    ['weir.module.v1.Field', 'optional .weir.module.v1.FieldReference reference = 16;'],
    ['weir.module.v1.ReturnCode', 'RETURN_CODE_FATAL_ERROR = 147;'],
    ['grpc.health.v1.HealthCheckResponse.ServingStatus', 'NOT_SERVING = 2;'],
  ])('has its %s described by grpcurl', async (symbol, line) => {
    expect((await grpcurl(server.address, 'describe', symbol)).stdout).toContain(line);
  });

  it('is called by grpcurl', async () => {
    const { code, stdout } = await grpcurl('-d', JSON.stringify(request), server.address, method);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(answer);
  });

  it('tells grpcurl that it does not stream yet', async () => {
    const { code, stderr } = await grpcurl('-d', '{}', server.address, 'weir.module.v1.Module/ProcessStream');
    expect(code).toBe(64 + Code.UNIMPLEMENTED);
    expect(stderr).toContain('ProcessStream is not served by this module');
  });

  it('tells its health to grpcurl and grpc-health-probe', async () => {
    const { stdout } = await grpcurl(server.address, 'grpc.health.v1.Health/Check');
    expect(JSON.parse(stdout)).toEqual({ status: 'SERVING' });
    for (const service of ['', Module.typeName]) {
      expect((await run(healthProbeProgram, `-addr=${server.address}`, `-service=${service}`)).code).toBe(0);
    }
    const unknown = await run(healthProbeProgram, `-addr=${server.address}`, '-service=weir.Nothing');
    expect(unknown.code).not.toBe(0);
  });

  it('is called from Python, which learns the types by reflection', async () => {
    expect(await callFromPython(server.address, method, request)).toEqual(answer);
  });

  it('is understood in Python when it says something that is not English', async () => {
    const empty = { fields: [{ key: base64('text'), value: '' }] };
    expect(await callFromPython(server.address, method, empty)).toEqual({
      code: 'RETURN_CODE_REQ_PKG_PARAM_INVALID',
      message: base64('处理失败：参数'),
    });
  });

  it('ends with 0 when it is told to', async () => {
    const other = await startServer(process.execPath, `${import.meta.dirname}/upper-module.ts`);
    expect(await other.stop()).toBe(0);
  });
});

describe('a module in Python, written from module.proto alone', () => {
  let directory: string;
  let server: Server;
  let client: Client<typeof Module>;
  beforeAll(async () => {
    directory = await mkdtemp(`${tmpdir()}/weir-python-`);
    const compiled = await run(
      pythonProgram,
      ...['-m', 'grpc_tools.protoc', `--proto_path=${root}/proto`],
      ...[`--python_out=${directory}`, `--grpc_python_out=${directory}`, 'weir/module/v1/module.proto'],
    );
    expect(compiled).toMatchObject({ code: 0, stderr: '' });
    server = await startServer(pythonProgram, `${import.meta.dirname}/echo_module.py`, directory);
    client = connect(Module, server.address);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const options = { timeoutMs: 10_000 };

  it('answers our client', async () => {
    const fields = [
      { key: bytes('title'), value: bytes('看点') },
      { key: bytes('elsewhere'), reference: { hash: new Uint8Array(32), size: 5n, location: 's3://b/k' } },
    ];
    const response = await client.process({ rowkey: bytes('row'), fields, callKey: 'key' }, options);
    expect(response).toMatchObject({ code: ReturnCode.SUCC, rowkey: bytes('row'), fields });
  });

  it.each([0x40, 0x45, 0x81, 0x93, 0x77])('answers with code %i', async (code) => {
    const response = await client.process({ fields: [{ key: bytes('code'), value: bytes(String(code)) }] }, options);
    expect(response.code).toBe(code);
    expect(new TextDecoder().decode(response.message)).toBe('按要求');
  });

  it('shows its exceptions as the status that Python makes of them', async () => {
    const malformed = { fields: [{ key: bytes('code'), value: bytes('x') }] };
    await expect(client.process(malformed, options)).rejects.toMatchObject({ code: Code.UNKNOWN, origin: 'peer' });
  });

  it('does not stream, and says so', async () => {
    const stream = client.processStream();
    await stream.send({});
    const first = stream.responses[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ code: Code.UNIMPLEMENTED, origin: 'peer' });
  });

  it('is driven by the engine, and its codes end runs', async () => {
    const engine = await startServer(process.execPath, `${import.meta.dirname}/engine.ts`, server.address);
    const runs = connect(Runs, engine.address);
    const key = (name: string) => ({ business: 'test', flow: 'echo', key: bytes(name) });
    const text = { key: bytes('text'), value: bytes('看点') };
    const codes = { well: '0', rejected: String(0x41), fatal: String(0x93) };
    const items = Object.entries(codes).map(([name, code]) => ({
      ...key(name),
      fields: [text, { key: bytes('code'), value: bytes(code) }],
    }));
    await runs.submit({ items }, options);
    const statusOf = async (name: string) => {
      for (;;) {
        const { run } = await runs.get({ run: key(name), withFields: true }, options);
        if (run?.status && run.status.state !== State.OPEN) return { ...run.status, fields: run.fields };
      }
    };
    const well = await statusOf('well');
    expect(well.state).toBe(State.SUCCEEDED);
    expect(well.fields).toContainEqual(
      expect.objectContaining({ writer: 'second', cell: expect.objectContaining({ value: bytes('看点') }) as unknown }),
    );
    expect(await statusOf('rejected')).toMatchObject({ state: State.FAILED, reason: Reason.REJECTED });
    expect(await statusOf('fatal')).toMatchObject({ state: State.FAILED, reason: Reason.FATAL });
    runs.close();
    expect(await engine.stop()).toBe(0);
  });

  it('leaves a call unsent when it is gone', async () => {
    const other = await startServer(pythonProgram, `${import.meta.dirname}/echo_module.py`, directory);
    const toOther = connect(Module, other.address);
    expect((await toOther.process({}, options)).code).toBe(ReturnCode.SUCC);
    await other.stop();
    await expect(toOther.process({}, options)).rejects.toMatchObject({ code: Code.UNAVAILABLE, origin: 'unsent' });
    toOther.close();
  });
});
