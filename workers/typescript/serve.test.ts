import { create, toBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { type Client, connect } from '../../platform/rpc/client.ts';
import { Code } from '../../platform/rpc/error.ts';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health_pb.js';
import {
  Module,
  type ProcessResponse,
  ProcessResponseSchema,
  ReturnCode,
} from '../../proto/gen/weir/module/v1/module_pb.js';
import type { FieldSpecs, ModuleDefinition, ServedModule, ServeOptions } from './index.ts';
import * as module from './index.ts';
import { maxAnswerBytes } from './process.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const messageOf = ({ message }: ProcessResponse): string => new TextDecoder().decode(message);
const field = (name: string, text: string) => ({ key: bytes(name), value: bytes(text) });
const options = { timeoutMs: 10_000 };

async function serve<const Input extends FieldSpecs, const Output extends FieldSpecs>(
  definition: Omit<ModuleDefinition<Input, Output>, 'name'>,
  serveOptions: ServeOptions = {},
): Promise<{ served: ServedModule; client: Client<typeof Module>; errors: unknown[] }> {
  const errors: unknown[] = [];
  const served = await module.serveModule(
    { name: 'text.test', ...definition },
    {
      address: '127.0.0.1:0',
      graceMs: 0,
      handleSignals: false,
      onError: (error) => errors.push(error),
      ...serveOptions,
    },
  );
  const client = connect(Module, served.address);
  closers.push(served.stop, client.close);
  return { served, client, errors };
}

describe('a module', () => {
  it('gets typed fields and the call, and answers with typed fields', async () => {
    let seen: module.Call | undefined;
    const { client } = await serve({
      input: { text: 'string', times: 'int?' },
      output: { upper: 'string', length: 'int' },
      process: ({ fields, call, signal }) => {
        expectTypeOf(fields).toEqualTypeOf<{ text: string; times?: number | undefined }>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        seen = call;
        return { upper: fields.text.toUpperCase().repeat(fields.times ?? 1), length: fields.text.length };
      },
    });
    const request = {
      rowkey: bytes('row'),
      fields: [field('text', 'weir'), field('times', '2'), field('other', '?')],
      timeoutMs: 5_000n,
      callKey: 'key',
      attempt: 2,
      epoch: 9n,
      business: 'mail',
      flow: 'intake',
      step: 'upper',
      traceparent: '00-1-2-01',
    };
    const response = await client.process(request, options);
    expect(response).toMatchObject({ code: ReturnCode.SUCC, rowkey: bytes('row') });
    expect(response.message).toBeUndefined();
    expect(response.fields).toMatchObject([field('upper', 'WEIRWEIR'), field('length', '4')]);
    const { fields: _, ...call } = request;
    expect(seen).toEqual({ ...call, timeoutMs: 5_000 });
  });

  it('may know nothing about the call', async () => {
    let seen: module.Call | undefined;
    const { client } = await serve({
      input: {},
      output: {},
      process: ({ call }) => {
        seen = call;
        return {};
      },
    });
    const response = await client.process({}, options);
    expect(response.rowkey).toBeUndefined();
    expect(response.code).toBe(ReturnCode.SUCC);
    expect(seen?.rowkey).toEqual(new Uint8Array());
    expect(seen?.callKey).toBeUndefined();
  });

  it('may say something with its success', async () => {
    const { client } = await serve({
      input: {},
      output: { n: 'int' },
      process: async () => module.withMessage({ n: 1 }, '好'),
    });
    const response = await client.process({}, options);
    expect(response).toMatchObject({ code: ReturnCode.SUCC, fields: [field('n', '1')] });
    expect(messageOf(response)).toBe('好');
  });

  it('must be defined well', async () => {
    const wrong = async (definition: unknown, serveOptions?: ServeOptions): Promise<unknown> =>
      module.serveModule(definition as ModuleDefinition<{}, {}>, serveOptions);
    const process = (): object => ({});
    await expect(wrong({ name: 'A', input: {}, output: {}, process })).rejects.toThrow(/name is "A", allowed is/);
    await expect(wrong({ name: 'a', input: { B: 'int' }, output: {}, process })).rejects.toThrow(/a: input.B: a field/);
    await expect(wrong({ name: 'a', input: {}, output: { b: 'float' }, process })).rejects.toThrow(
      /a: output.b is "float", allowed is/,
    );
    await expect(wrong({ name: 'a', input: {}, output: {}, process }, { concurrency: 0 })).rejects.toThrow(
      /concurrency is 0/,
    );
  });
});

describe('the return code', () => {
  it.each([
    ['rejected', module.rejected, ReturnCode.REQ_PKG_PARAM_INVALID],
    ['missing', module.missing, ReturnCode.REQ_MUST_PARAM_MISS],
    ['failed', module.failed, ReturnCode.SVR_INNER_ERR],
    ['backendFailed', module.backendFailed, ReturnCode.FAIL_BACK_SVR],
    ['backendTimedOut', module.backendTimedOut, ReturnCode.FAIL_BACK_TIMEOUT],
    ['overloaded', module.overloaded, ReturnCode.SVR_OVER_LOAD],
    ['overLimits', module.overLimits, ReturnCode.OVER_LIMITS],
    ['notAllowed', module.notAllowed, ReturnCode.NO_AUTH],
    ['fatal', module.fatal, ReturnCode.FATAL_ERROR],
  ])('of %s(text) goes out with its text', async (_name, failure, code) => {
    const { client, errors } = await serve({
      input: {},
      output: {},
      process: () => {
        throw failure('处理失败：参数');
      },
    });
    const response = await client.process({ rowkey: bytes('row') }, options);
    expect(response).toMatchObject({ code, rowkey: bytes('row'), fields: [] });
    expect(messageOf(response)).toBe('处理失败：参数');
    expect(errors).toEqual([]);
  });

  it('of a bug is SVR_INNER_ERR, and the bug is reported', async () => {
    const bugs = [new TypeError('x is undefined'), 'a string'];
    const { client, errors } = await serve({
      input: { n: 'int' },
      output: {},
      process: async ({ fields }) => {
        throw bugs[fields.n];
      },
    });
    for (const [n, text] of ['x is undefined', 'a string'].entries()) {
      const response = await client.process({ fields: [field('n', String(n))] }, options);
      expect(response.code).toBe(ReturnCode.SVR_INNER_ERR);
      expect(messageOf(response)).toBe(text);
    }
    expect(errors).toEqual(bugs);
  });

  it('of bad input names the field; process is not called', async () => {
    let calls = 0;
    const { client } = await serve({
      input: { n: 'int' },
      output: {},
      process: () => {
        calls += 1;
        return {};
      },
    });
    const absent = await client.process({}, options);
    expect(absent.code).toBe(ReturnCode.REQ_MUST_PARAM_MISS);
    expect(messageOf(absent)).toBe('field n of type int is absent');
    const malformed = await client.process({ fields: [field('n', 'x')] }, options);
    expect(malformed.code).toBe(ReturnCode.REQ_PKG_PARAM_INVALID);
    expect(messageOf(malformed)).toMatch(/^field n: found "x", allowed is/);
    expect(calls).toBe(0);
  });

  it('of bytes that are no request is FAIL_PARSE_REQ_PKG', async () => {
    const { client } = await serve({ input: {}, output: {}, process: () => ({}) });
    // Field 2 (a message) written as bytes that are no message.
    const broken = { no: 2, wireType: 2, data: new Uint8Array([3, 0xff, 0xff, 0xff]) };
    const request = { $typeName: 'weir.module.v1.ProcessRequest', fields: [], $unknown: [broken] } as const;
    const response = await client.process(request as never, options);
    expect(response.code).toBe(ReturnCode.FAIL_PARSE_REQ_PKG);
    expect(messageOf(response)).toMatch(/^the request is not a valid weir.module.v1.ProcessRequest/);
  });

  it('of output that is not as declared is FAIL_PACK_RSP_PKG', async () => {
    const { client } = await serve({ input: {}, output: { n: 'int' }, process: () => ({ n: 0.5 }) });
    const response = await client.process({}, options);
    expect(response.code).toBe(ReturnCode.FAIL_PACK_RSP_PKG);
    expect(messageOf(response)).toMatch(/^field n: found 0.5/);
  });

  it('comes with at most 4 KiB of text, cut between characters', async () => {
    const { client } = await serve({
      input: {},
      output: {},
      process: () => {
        throw module.failed('处'.repeat(5_000));
      },
    });
    expect(messageOf(await client.process({}, options))).toBe('处'.repeat(Math.floor(4_096 / 3)));
  });
});

describe('an answer', () => {
  const parts = { a: 'bytes', b: 'bytes', c: 'bytes', d: 'bytes', e: 'bytes?' } as const;
  const full = new Uint8Array(1024 * 1024);
  /** Bytes of the answer around the last field's content. */
  const rest = (() => {
    const fields = ['a', 'b', 'c', 'd'].map((name) => ({
      key: bytes(name),
      value: name === 'd' ? full.subarray(0, 1_000_000) : full,
    }));
    return (
      toBinary(ProcessResponseSchema, create(ProcessResponseSchema, { code: ReturnCode.SUCC, fields })).length -
      1_000_000
    );
  })();

  it.each([
    [maxAnswerBytes - 1, ReturnCode.SUCC],
    [maxAnswerBytes, ReturnCode.SUCC],
    [maxAnswerBytes + 1, ReturnCode.FAIL_PACK_RSP_PKG],
  ])('of %i bytes is answered with code %i', async (size, code) => {
    const { client } = await serve({
      input: {},
      output: parts,
      process: () => ({ a: full, b: full, c: full, d: full.subarray(0, size - rest) }),
    });
    const response = await client.process({}, options);
    expect(response.code).toBe(code);
    if (code === ReturnCode.SUCC) expect(toBinary(ProcessResponseSchema, response).length).toBe(size);
    else expect(messageOf(response)).toBe(`the answer has ${size} bytes, allowed are ${maxAnswerBytes}`);
  });
});

describe('the signal', () => {
  const waiting = () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<unknown>();
    const definition = {
      input: {},
      output: {},
      process: ({ signal }: { signal: AbortSignal }) =>
        new Promise<{}>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.resolve(signal.reason);
            reject(new Error('the library gave up'));
          });
          started.resolve();
        }),
    } as const;
    return { started: started.promise, aborted: aborted.promise, definition };
  };

  it('fires at the gRPC deadline', async () => {
    const { aborted, definition } = waiting();
    const { client, errors } = await serve(definition);
    await expect(client.process({}, { timeoutMs: 50 })).rejects.toMatchObject({ code: Code.DEADLINE_EXCEEDED });
    expect(await aborted).toMatchObject({ message: 'deadline exceeded' });
    expect(errors).toEqual([]);
  });

  it('fires at timeout_ms when that is earlier, and the answer says so', async () => {
    const { definition } = waiting();
    const { client, errors } = await serve(definition);
    const response = await client.process({ timeoutMs: 20n }, options);
    expect(response.code).toBe(ReturnCode.FAIL_BACK_TIMEOUT);
    expect(messageOf(response)).toBe('not done within 20 ms');
    expect(errors).toEqual([]);
  });

  it('fires when the caller cancels', async () => {
    const { started, aborted, definition } = waiting();
    const { client } = await serve(definition);
    const controller = new AbortController();
    const call = client.process({}, { ...options, signal: controller.signal });
    call.catch(() => {});
    await started;
    controller.abort();
    expect(await aborted).toMatchObject({ message: 'the caller has gone' });
  });

  it('fires when the module is stopped and the grace is over', async () => {
    const { started, aborted, definition } = waiting();
    const { client, served } = await serve(definition);
    const call = client.process({}, options);
    call.catch(() => {});
    await started;
    await served.stop();
    await aborted;
    await expect(call).rejects.toMatchObject({ origin: 'lost' });
  });

  it.each([0n, 2n ** 31n, 2n ** 63n])('takes a timeout_ms of %i for none', async (timeoutMs) => {
    const { client } = await serve({
      input: {},
      output: { aborted: 'bool' },
      process: ({ signal }) => ({ aborted: signal.aborted }),
    });
    const response = await client.process({ timeoutMs }, options);
    expect(response.fields).toMatchObject([field('aborted', 'false')]);
  });
});

describe('a full module', () => {
  it('answers SVR_OVER_LOAD by itself, and takes calls again when one has ended', async () => {
    const gates = [Promise.withResolvers<{}>(), Promise.withResolvers<{}>()];
    let calls = 0;
    const bothRun = Promise.withResolvers<void>();
    const { client } = await serve(
      {
        input: {},
        output: {},
        process: () => {
          if (calls === 1) bothRun.resolve();
          return gates[calls++]?.promise ?? {};
        },
      },
      { concurrency: 2 },
    );
    const running = [client.process({}, options), client.process({}, options)];
    await bothRun.promise;
    const refused = await client.process({ rowkey: bytes('row') }, options);
    expect(refused).toMatchObject({ code: ReturnCode.SVR_OVER_LOAD, rowkey: bytes('row') });
    expect(messageOf(refused)).toBe('text.test runs 2 calls, at most 2 are allowed');
    gates[0]?.resolve({});
    await Promise.any(running);
    expect((await client.process({}, options)).code).toBe(ReturnCode.SUCC);
    gates[1]?.resolve({});
    await Promise.all(running);
  });
});

describe('the server of a module', () => {
  it('is healthy while it serves', async () => {
    const { served } = await serve({ input: {}, output: {}, process: () => ({}) });
    const health = connect(Health, served.address);
    closers.push(health.close);
    for (const service of ['', Module.typeName]) {
      expect((await health.check({ service }, options)).status).toBe(ServingStatus.SERVING);
    }
    const seen: ServingStatus[] = [];
    for await (const { status } of health.watch({})) {
      seen.push(status);
      if (seen.length === 1) void served.stop();
    }
    expect(seen).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  });

  it('does not serve ProcessStream yet', async () => {
    const { client } = await serve({ input: {}, output: {}, process: () => ({}) });
    const stream = client.processStream();
    await expect(stream.responses[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: Code.UNIMPLEMENTED });
  });

  it('may stand beside another in one process', async () => {
    const pair = await Promise.all(
      [1, 2].map((n) => serve({ input: {}, output: { n: 'int' }, process: () => ({ n }) })),
    );
    for (const [index, { client }] of pair.entries()) {
      expect((await client.process({}, options)).fields).toMatchObject([field('n', String(index + 1))]);
    }
  });

  it('says which address it cannot bind', async () => {
    const { served } = await serve({ input: {}, output: {}, process: () => ({}) });
    await expect(serve({ input: {}, output: {}, process: () => ({}) }, { address: served.address })).rejects.toThrow(
      `cannot listen on ${served.address}`,
    );
  });
});
