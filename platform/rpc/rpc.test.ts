import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type CallBatch, Module, type ProcessRequest, ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { type Client, type ConnectOptions, connect } from './client.ts';
import { Code, RpcError } from './error.ts';
import { type CallContext, type Handlers, implement, type UndecodableAnswers } from './handlers.ts';
import { type RunningServer, type ServerOptions, startServer } from './server.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type ModuleHandlers = Handlers<typeof Module>;

interface Pair {
  client: Client<typeof Module>;
  server: RunningServer;
  /** What reached `onError`. */
  errors: unknown[];
}

async function serve(
  handlers: Partial<ModuleHandlers>,
  options: Partial<ServerOptions> & { connect?: ConnectOptions; undecodable?: UndecodableAnswers<typeof Module> } = {},
): Promise<Pair> {
  const errors: unknown[] = [];
  const all: ModuleHandlers = {
    process: async () => ({}),
    async *processStream() {},
    ...handlers,
  };
  const server = await startServer({
    address: '127.0.0.1:0',
    services: [implement(Module, all, options.undecodable)],
    onError: (error) => errors.push(error),
    ...options,
  });
  const client = connect(Module, `127.0.0.1:${server.port}`, options.connect);
  closers.push(() => server.stop(0), client.close);
  return { client, server, errors };
}

/** A promise with its levers. */
function gate<T = void>() {
  return Promise.withResolvers<T>();
}

const failureOf = async (call: Promise<unknown>): Promise<RpcError> => {
  const thrown = await call.then(
    () => new Error('the call succeeded'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RpcError);
  return thrown as RpcError;
};

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const aboutNow = { timeoutMs: 10_000 };

describe('unary calls', () => {
  it('carry request, response, deadline and caller', async () => {
    let seen: [ProcessRequest, CallContext] | undefined;
    const { client } = await serve({
      process: async (request, context) => {
        seen = [request, context];
        return { code: ReturnCode.SUCC, fields: request.fields };
      },
    });
    const response = await client.process({ fields: [{ key: text('a'), value: text('b') }] }, { timeoutMs: 60_000 });
    expect(response.code).toBe(ReturnCode.SUCC);
    expect(response.fields[0]?.value).toEqual(text('b'));
    expect(seen?.[1].deadlineMs).toBeGreaterThan(Date.now());
    expect(seen?.[1].peer).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(seen?.[1].signal.aborted).toBe(false);
  });

  it('fail with the code and the readable text of an RpcError', async () => {
    const { client, errors } = await serve({
      process: async () => {
        throw new RpcError(Code.FAILED_PRECONDITION, '处理失败：参数 100% "ü"\n#2');
      },
    });
    const error = await failureOf(client.process({}, aboutNow));
    expect(error).toMatchObject({
      code: Code.FAILED_PRECONDITION,
      message: '处理失败：参数 100% "ü"\n#2',
      origin: 'peer',
    });
    expect(errors).toEqual([]);
  });

  it('shorten a text that is too long for a header, and mend half characters', async () => {
    const { client } = await serve({
      process: async () => {
        throw new RpcError(Code.INTERNAL, `\ud800${'处'.repeat(5_000)}`);
      },
    });
    const { message } = await failureOf(client.process({}, aboutNow));
    expect(message).toMatch(/^\ufffd处{400,}…$/u);
  });

  it('hide what an unexpected error says and give it to onError', async () => {
    const bug = new TypeError('secret path');
    const { client, errors } = await serve({
      process: () => {
        throw bug;
      },
    });
    const error = await failureOf(client.process({}, aboutNow));
    expect(error).toMatchObject({ code: Code.INTERNAL, message: 'internal error', origin: 'peer' });
    expect(errors).toEqual([bug]);
  });

  it('report a response that is not of its type', async () => {
    const { client, errors } = await serve({ process: async () => ({ code: 'x' }) as never });
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({
      code: Code.INTERNAL,
      message: 'internal error',
    });
    expect(errors).toHaveLength(1);
  });

  it('fire the signal at the deadline', async () => {
    const aborted = gate<unknown>();
    const { client, errors } = await serve({
      process: (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.resolve(signal.reason);
            reject(signal.reason);
          });
        }),
    });
    const error = await failureOf(client.process({}, { timeoutMs: 50 }));
    expect(error.code).toBe(Code.DEADLINE_EXCEEDED);
    expect(await aborted.promise).toBeInstanceOf(RpcError);
    expect(errors).toEqual([]);
  });

  it('fire the signal when the caller aborts', async () => {
    const started = gate();
    const aborted = gate<unknown>();
    const { client } = await serve({
      process: async (_request, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason));
        started.resolve();
        await aborted.promise;
        return {};
      },
    });
    const controller = new AbortController();
    const call = failureOf(client.process({}, { ...aboutNow, signal: controller.signal }));
    await started.promise;
    controller.abort();
    expect(await call).toMatchObject({ code: Code.CANCELLED, origin: 'local' });
    expect(await aborted.promise).toMatchObject({ code: Code.CANCELLED });
  });

  it('do not begin with an aborted signal, nor with a time-out that overflows', async () => {
    const { client } = await serve({});
    const error = await failureOf(client.process({}, { ...aboutNow, signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: Code.CANCELLED, origin: 'local' });
    await expect(client.process({}, { timeoutMs: 2 ** 31 })).rejects.toThrow(/timeoutMs is 2147483648/);
  });

  it('are never repeated', async () => {
    let calls = 0;
    const { client } = await serve({
      process: async () => {
        calls += 1;
        throw new RpcError(Code.UNAVAILABLE, 'not now');
      },
    });
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({ code: Code.UNAVAILABLE, origin: 'peer' });
    expect(calls).toBe(1);
  });
});

describe('limits', () => {
  const big = (bytes: number) => ({ fields: [{ value: new Uint8Array(bytes) }] });

  it('a request beyond the limit of the server is its RESOURCE_EXHAUSTED', async () => {
    const { client } = await serve({}, { maxReceiveBytes: 1_000 });
    expect(await failureOf(client.process(big(1_000), aboutNow))).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      origin: 'peer',
    });
  });

  it('a request beyond the own limit is not sent', async () => {
    const { client } = await serve({}, { connect: { maxSendBytes: 1_000 } });
    expect(await failureOf(client.process(big(1_000), aboutNow))).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      origin: 'local',
    });
  });

  it('a response beyond the own limit is told apart', async () => {
    const { client } = await serve({ process: async () => big(1_000) }, { connect: { maxReceiveBytes: 1_000 } });
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      origin: 'oversized',
    });
  });
});

describe('an undecodable message', () => {
  const garbage = Buffer.from([0xff, 0xff, 0xff]);

  it('as a request is INVALID_ARGUMENT', async () => {
    const { server, errors } = await serve({});
    const trailers = await rawCall(server.port, garbage);
    expect(trailers['grpc-status']).toBe(String(Code.INVALID_ARGUMENT));
    expect(decodeURI(String(trailers['grpc-message']))).toMatch(/request is not a valid weir.module.v1.ProcessRequest/);
    expect(errors).toEqual([]);
  });

  it('as a request is answered by the service if it wants to', async () => {
    const problems: string[] = [];
    const { server } = await serve(
      {},
      {
        undecodable: {
          process: (problem) => {
            problems.push(problem);
            return { code: ReturnCode.FAIL_PARSE_REQ_PKG };
          },
        },
      },
    );
    const trailers = await rawCall(server.port, garbage);
    expect(trailers['grpc-status']).toBe('0');
    expect(problems).toEqual([expect.stringMatching(/not a valid weir.module.v1.ProcessRequest/)]);
  });

  it('as a response is told apart', async () => {
    // A field of length 100 in a message of 3 bytes: taken by the server as an opaque unknown field of a wrong kind.
    const { client } = await serve({
      process: async () => ({ $typeName: 'weir.module.v1.ProcessResponse', fields: [], $unknown: [broken] }) as never,
    });
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({
      code: Code.INTERNAL,
      origin: 'undecodable',
    });
  });
  // Field 4 (a message) written as length-delimited bytes that are no message.
  const broken = { no: 4, wireType: 2, data: new Uint8Array([3, 0xff, 0xff, 0xff]) };
});

/** A unary call with arbitrary bytes and headers; gives the trailers. */
async function rawCall(
  port: number,
  message: Buffer,
  headers: Record<string, string> = {},
): Promise<IncomingHttpHeaders> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  closers.push(() => session.destroy());
  const request = session.request({
    ':method': 'POST',
    ':path': '/weir.module.v1.Module/Process',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  const result: IncomingHttpHeaders = {};
  request.on('response', (head) => Object.assign(result, head));
  request.on('trailers', (tail) => Object.assign(result, tail));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  request.end(Buffer.concat([prefix, message]));
  request.resume();
  await once(request, 'close');
  return result;
}

describe('metadata that others set', () => {
  it('is ignored when its bytes are not allowed', async () => {
    let seen: unknown[] | undefined;
    const { server } = await serve({
      process: async (_request, { metadata }) => {
        seen = [metadata.get('city'), metadata.get('town')];
        return {};
      },
    });
    const trailers = await rawCall(server.port, Buffer.alloc(0), { city: 'Montr\u00e9al', town: 'Laval' });
    expect(trailers['grpc-status']).toBe('0');
    expect(seen?.[1]).toEqual(['Laval']);
  });
});

describe('a broken connection', () => {
  it('that was never there leaves the call unsent', async () => {
    const { client, server } = await serve({});
    await server.stop(0);
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({ code: Code.UNAVAILABLE, origin: 'unsent' });
  });

  it('to a name that does not resolve leaves the call unsent', async () => {
    const client = connect(Module, 'no-such-host.invalid:4000');
    closers.push(client.close);
    expect(await failureOf(client.process({}, aboutNow))).toMatchObject({ code: Code.UNAVAILABLE, origin: 'unsent' });
  });

  it('to a peer that accepts and stays silent leaves the call unsent', async () => {
    const silent = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const client = connect(Module, `127.0.0.1:${(silent.address() as { port: number }).port}`);
    closers.push(() => silent.close(), client.close);
    expect(await failureOf(client.process({}, { timeoutMs: 50 }))).toMatchObject({
      code: Code.DEADLINE_EXCEEDED,
      origin: 'unsent',
    });
  });

  it('after sending makes the call lost', async () => {
    const started = gate();
    const { server } = await serve({
      process: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const proxy = await cuttableProxy(server.port);
    const client = connect(Module, `127.0.0.1:${proxy.port}`);
    closers.push(client.close);
    const call = failureOf(client.process({}, aboutNow));
    await started.promise;
    proxy.cut();
    expect(await call).toMatchObject({ code: Code.UNAVAILABLE, origin: 'lost' });
  });

  it('by a server that is stopped by force makes the call lost and fires the signal', async () => {
    const started = gate();
    const aborted = gate();
    const { client, server } = await serve({
      process: (_request, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        started.resolve();
        return new Promise(() => {});
      },
    });
    const call = failureOf(client.process({}, aboutNow));
    await started.promise;
    expect(await server.stop(1)).toBe('cut');
    expect((await call).origin).toBe('lost');
    await aborted.promise;
  });
});

/** A TCP proxy whose connections can be cut with a reset. */
async function cuttableProxy(target: number): Promise<{ port: number; cut: () => void }> {
  const { connect: connectTcp } = await import('node:net');
  const sockets: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connectTcp(target, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far).pipe(near);
    sockets.push(near, far);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = (): void => sockets.forEach((socket) => socket.resetAndDestroy());
  closers.push(() => {
    cut();
    proxy.close();
  });
  return { port: (proxy.address() as { port: number }).port, cut };
}

describe('streams', () => {
  const batch = (id: number) => ({ calls: [{ id: BigInt(id) }] });
  const echo: ModuleHandlers['processStream'] = async function* (requests) {
    for await (const request of requests) yield { answers: request.calls.map(({ id }) => ({ id: id! })) };
  };

  it('carry requests and responses both ways until both ends are done', async () => {
    const { client } = await serve({ processStream: echo });
    const stream = client.processStream();
    const ids: bigint[] = [];
    for (let id = 1; id <= 3; id++) await stream.send(batch(id));
    stream.end();
    for await (const response of stream.responses) ids.push(...response.answers.map((answer) => answer.id ?? 0n));
    expect(ids).toEqual([1n, 2n, 3n]);
    await expect(stream.send(batch(4))).rejects.toBeInstanceOf(RpcError);
  });

  it('fail with what the handler throws, after the responses before it', async () => {
    const { client } = await serve({
      async *processStream() {
        yield {};
        throw new RpcError(Code.ABORTED, '停');
      },
    });
    const stream = client.processStream();
    let responses = 0;
    const read = async (): Promise<void> => {
      for await (const _ of stream.responses) responses += 1;
    };
    expect(await failureOf(read())).toMatchObject({ code: Code.ABORTED, message: '停', origin: 'peer' });
    expect(responses).toBe(1);
  });

  it('end for the handler when the reader leaves', async () => {
    const left = gate();
    const { client, errors } = await serve({
      async *processStream(_requests, { signal }) {
        try {
          yield {};
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        } finally {
          left.resolve();
        }
      },
    });
    for await (const _ of client.processStream().responses) break;
    await left.promise;
    expect(errors).toEqual([]);
  });

  it('fail with the status of a handler that gives up while it waits for a request', async () => {
    const { client } = await serve({
      async *processStream(requests) {
        const reading = requests[Symbol.asyncIterator]();
        await reading.next();
        reading.next().catch(() => {});
        yield {};
        throw new RpcError(Code.INVALID_ARGUMENT, 'enough');
      },
    });
    const stream = client.processStream(aboutNow);
    await stream.send({});
    const answers = stream.responses[Symbol.asyncIterator]();
    await answers.next();
    expect(await failureOf(answers.next())).toMatchObject({ code: Code.INVALID_ARGUMENT, message: 'enough' });
  });

  it('end for the handler that waits for requests when the caller cancels', async () => {
    const started = gate();
    const left = gate<unknown>();
    const { client, errors } = await serve({
      // oxlint-disable-next-line require-yield
      async *processStream(requests) {
        started.resolve();
        try {
          for await (const _ of requests);
        } catch (thrown) {
          left.resolve(thrown);
          throw thrown;
        }
      },
    });
    const stream = client.processStream();
    const read = failureOf(stream.responses[Symbol.asyncIterator]().next());
    await started.promise;
    stream.cancel();
    expect(await left.promise).toMatchObject({ code: Code.CANCELLED });
    expect((await read).code).toBe(Code.CANCELLED);
    expect(errors).toEqual([]);
  });

  it('hold a writer back when the handler does not read', async () => {
    const release = gate();
    let read = 0;
    const { client } = await serve({
      // oxlint-disable-next-line require-yield
      async *processStream(requests) {
        await release.promise;
        for await (const _ of requests) read += 1;
      },
    });
    const stream = client.processStream();
    const message = { calls: [{ request: { fields: [{ value: new Uint8Array(100_000) }] } }] };
    let sent = 0;
    let held = false;
    const writing = (async () => {
      for (; sent < 200; sent++) await stream.send(message);
      stream.end();
    })();
    // The connection is quiet when a whole round trip of another call passes without a message being taken.
    while (!held) {
      const before = sent;
      for (let calls = 0; calls < 5; calls++) await client.process({}, aboutNow);
      held = sent === before;
    }
    expect(sent).toBeLessThan(100);
    release.resolve();
    await writing;
    for await (const _ of stream.responses);
    expect(read).toBe(200);
  });

  it('hold a handler back when the caller does not read', async () => {
    let produced = 0;
    const { client } = await serve({
      async *processStream() {
        for (; produced < 200; produced++) yield { answers: [{ response: { message: new Uint8Array(100_000) } }] };
      },
    });
    const stream = client.processStream();
    const iterator = stream.responses[Symbol.asyncIterator]();
    await iterator.next();
    for (let before = -1; before !== produced; ) {
      before = produced;
      for (let calls = 0; calls < 5; calls++) await client.process({}, aboutNow);
    }
    expect(produced).toBeLessThan(100);
    let received = 1;
    while (!(await iterator.next()).done) received += 1;
    expect(received).toBe(200);
  });

  it('have their deadline', async () => {
    const { client } = await serve({
      // oxlint-disable-next-line require-yield
      async *processStream(_requests, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const stream = client.processStream({ timeoutMs: 50 });
    expect((await failureOf(stream.responses[Symbol.asyncIterator]().next())).code).toBe(Code.DEADLINE_EXCEEDED);
  });

  it('give a handler the decoded requests only', async () => {
    const seen: CallBatch[] = [];
    const { client } = await serve({
      // oxlint-disable-next-line require-yield
      async *processStream(requests) {
        for await (const request of requests) seen.push(request);
      },
    });
    const stream = client.processStream();
    await stream.send({ cancels: [7n] });
    stream.end();
    for await (const _ of stream.responses);
    expect(seen[0]?.cancels).toEqual([7n]);
  });
});

describe('stopping', () => {
  it('lets a running call finish and refuses new ones', async () => {
    const started = gate();
    const finish = gate();
    const { client, server } = await serve({
      process: async () => {
        started.resolve();
        await finish.promise;
        return { code: ReturnCode.SUCC };
      },
    });
    const running = client.process({}, aboutNow);
    await started.promise;
    const stopped = server.stop(60_000);
    expect(server.stop(60_000)).toBe(stopped);
    finish.resolve();
    expect((await running).code).toBe(ReturnCode.SUCC);
    expect(await stopped).toBe('finished');
    expect((await failureOf(client.process({}, aboutNow))).origin).toBe('unsent');
  });

  it('tells held streams', async () => {
    const { client, server } = await serve({
      async *processStream(_requests, { stopping }) {
        yield {};
        await new Promise((resolve) => stopping.addEventListener('abort', resolve));
      },
    });
    const iterator = client.processStream().responses[Symbol.asyncIterator]();
    await iterator.next();
    const stopped = server.stop(60_000);
    expect((await iterator.next()).done).toBe(true);
    expect(await stopped).toBe('finished');
  });

  it('says which address cannot be bound', async () => {
    const { server } = await serve({});
    const taken = `127.0.0.1:${server.port}`;
    await expect(startServer({ address: taken, services: [], onError: () => {} })).rejects.toThrow(
      `cannot listen on ${taken}`,
    );
  });
});
