import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../platform/clock/manual-clock.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { ModulesByScheme } from './by-scheme.ts';
import { readCallbackHosts } from './callback-hosts.ts';
import { freePort } from './free-port.ts';
import { HttpModules } from './http-caller.ts';
import type { CallOutcome, ModuleCall, Modules } from './port.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

const closing: Array<() => unknown> = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A server of `hook`, and all that it received. */
async function serve(hook: (response: ServerResponse, request: IncomingMessage) => void) {
  const received: Received[] = [];
  const arrived = Promise.withResolvers<void>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      received.push({ method, path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      arrived.resolve();
      hook(response, request);
    });
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { port, received, arrived: arrived.promise };
}

function caller(hosts: string) {
  const reading = readCallbackHosts(hosts);
  if (!reading.ok) throw new Error(reading.problem);
  const clock = new ManualClock();
  const modules = new HttpModules(reading.hosts, clock);
  closing.push(() => modules.close());
  return { clock, modules };
}

function callOf(module: string, more: Partial<ModuleCall> = {}): ModuleCall {
  return {
    ...{ kind: 'call', step: 'exit/0', callKey: '1/b/f/key/exit/0/1', module, round: 1, attempt: 2, isSuspect: false },
    ...{ timeoutMs: 1_000, deadlineMs: Date.UTC(2027, 0, 1), rowkey: bytes('key'), business: 'b', flow: 'f' },
    ...{ level: 5, epoch: 1, fields: [['text', { bytes: bytes('hello') }]] },
    ...more,
  };
}

function ask(modules: Modules, call: ModuleCall): Promise<CallOutcome> {
  return new Promise((resolve) => modules.call(call, resolve));
}

async function answered(status: number, body = '') {
  const { port } = await serve((response) => response.writeHead(status).end(body));
  const { modules } = caller(`127.0.0.1:${port}`);
  return (await ask(modules, callOf(`http://127.0.0.1:${port}/`))).answer;
}

describe('a call by address', () => {
  it('sends the call as JSON, with its key', async () => {
    const { port, received } = await serve((response) => response.end());
    const { modules } = caller(`127.0.0.1:${port}`);
    const { answer, tries } = await ask(modules, callOf(`http://127.0.0.1:${port}/hook?a=1`));
    expect(answer).toEqual({ ending: Ending.SUCCEEDED, message: '', fields: new Map() });
    expect(tries).toMatchObject([{ endpoint: `127.0.0.1:${port}`, ending: Ending.SUCCEEDED }]);
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: '/hook?a=1',
        headers: { 'content-type': 'application/json', 'idempotency-key': '1/b/f/key/exit/0/1' },
        body: {
          ...{ callKey: '1/b/f/key/exit/0/1', step: 'exit/0', attempt: 2, business: 'b', flow: 'f' },
          rowkey: Buffer.from('key').toString('base64'),
          fields: { text: Buffer.from('hello').toString('base64') },
        },
      },
    ]);
  });

  it('receives fields, as base64 or as text', async () => {
    const { fields } = await answered(201, JSON.stringify({ fields: { a: 'AP8=', b: { text: 'ä' } }, more: 1 }));
    expect(fields).toEqual(
      new Map([
        ['a', { bytes: Uint8Array.of(0, 255) }],
        ['b', { bytes: bytes('ä') }],
      ]),
    );
  });

  it.each([
    [204, Ending.SUCCEEDED],
    [301, Ending.VIOLATION],
    [400, Ending.REJECTED],
    [401, Ending.NO_AUTH],
    [403, Ending.NO_AUTH],
    [404, Ending.REJECTED],
    [408, Ending.TIMED_OUT],
    [429, Ending.OVERLOADED],
    [500, Ending.FAILED],
    [503, Ending.FAILED],
    [504, Ending.TIMED_OUT],
  ])('status %d means %s', async (status, ending) => {
    expect((await answered(status)).ending).toBe(ending);
  });

  it('keeps what a refusal says', async () => {
    expect((await answered(500, 'out of\n paper')).message).toBe('HTTP status 500: out of paper');
  });

  it.each([
    ['no JSON', 'hello'],
    ['no object', '[1]'],
    ['no fields', '{"fields":[]}'],
    ['no base64', '{"fields":{"a":"%"}}'],
    ['a number', '{"fields":{"a":1}}'],
    ['too large a field', JSON.stringify({ fields: { a: { text: 'x'.repeat(1_048_577) } } })],
    ['too large an answer', 'x'.repeat(4 * 1_048_576 + 1)],
  ])('breaks the contract with %s', async (_, body) => {
    expect((await answered(200, body)).ending).toBe(Ending.VIOLATION);
  });

  it('follows no redirection', async () => {
    const target = await serve((response) => response.end());
    const { port } = await serve((response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end(),
    );
    const { modules } = caller(`127.0.0.1:${port},127.0.0.1:${target.port}`);
    expect((await ask(modules, callOf(`http://127.0.0.1:${port}/`))).answer.ending).toBe(Ending.VIOLATION);
    expect(target.received).toEqual([]);
  });
});

describe('a call by address that gets no answer', () => {
  it('is unreachable when nobody listens', async () => {
    const port = await freePort();
    const { modules } = caller(`127.0.0.1:${port}`);
    expect((await ask(modules, callOf(`http://127.0.0.1:${port}/`))).answer.ending).toBe(Ending.UNREACHABLE);
  });

  it('is lost when the connection breaks after sending, or in the middle of the answer', async () => {
    for (const hook of [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy());
      },
    ]) {
      const { port } = await serve(hook);
      const { modules } = caller(`127.0.0.1:${port}`);
      expect((await ask(modules, callOf(`http://127.0.0.1:${port}/`))).answer.ending).toBe(Ending.LOST);
    }
  });

  it('times out once it is connected', async () => {
    const { port, arrived } = await serve(() => {});
    const { modules, clock } = caller(`127.0.0.1:${port}`);
    const asked = ask(modules, callOf(`http://127.0.0.1:${port}/`));
    await arrived;
    await clock.advance(1_000);
    expect((await asked).answer).toMatchObject({ ending: Ending.TIMED_OUT, message: 'no answer within 1000 ms' });
  });

  it('breaks the contract when what answers is no HTTP', async () => {
    const server = createTcpServer((socket) => socket.end('SMTP 220\r\n\r\n'));
    const port = await freePort();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    const { modules } = caller(`127.0.0.1:${port}`);
    expect((await ask(modules, callOf(`http://127.0.0.1:${port}/`))).answer.ending).toBe(Ending.VIOLATION);
  });

  it('says nothing once it is aborted', async () => {
    const gone = Promise.withResolvers<void>();
    const { port, arrived } = await serve((response) => response.on('close', gone.resolve));
    const { modules, clock } = caller(`127.0.0.1:${port}`);
    let told = 0;
    const pending = modules.call(callOf(`http://127.0.0.1:${port}/`), () => told++);
    expect(pending.withdraw()).toBe(false);
    await arrived;
    pending.abort();
    await gone.promise;
    await clock.advance(10_000);
    expect(told).toBe(0);
  });
});

describe('an address that may not be called', () => {
  it.each([
    ['of a host that is not listed', 'hooks.example.com', 'http://127.0.0.1:9/', '127.0.0.1:9 is not among the hosts'],
    ['in another way of writing', 'hooks.example.com', 'http://2130706433:9/', '127.0.0.1:9 is not among the hosts'],
    ['at another port', '127.0.0.1:8', 'http://127.0.0.1:9/', '127.0.0.1:9 is not among the hosts'],
    ['whose name is at an internal address', 'localhost:9', 'http://localhost:9/', 'to call it list'],
  ])('is rejected: %s', async (_, hosts, address, message) => {
    const { modules, clock } = caller(hosts);
    const asked = ask(modules, callOf(address));
    await clock.advance(0);
    const { answer } = await asked;
    expect(answer.ending).toBe(Ending.REJECTED);
    expect(answer.message).toContain(message);
    expect(answer.message).toContain('--callback-hosts');
  });

  it('is declined while too many calls to its host are out', async () => {
    const { port } = await serve(() => {});
    const { modules, clock } = caller(`127.0.0.1:${port}`);
    for (let count = 0; count < 64; count++) modules.call(callOf(`http://127.0.0.1:${port}/`), () => {});
    const asked = ask(modules, callOf(`http://127.0.0.1:${port}/`));
    await clock.advance(0);
    expect((await asked).answer.ending).toBe(Ending.OVERLOADED);
  });
});

it('modules and addresses are told apart', () => {
  const called: string[] = [];
  const fake = (name: string): Modules => ({
    call: ({ module }) => {
      called.push(`${name} ${module}`);
      return { abort: () => {}, withdraw: () => false };
    },
  });
  const modules = new ModulesByScheme(fake('grpc'), fake('http'));
  for (const module of ['mail.parse', 'https://hooks.example.com/']) modules.call(callOf(module), () => {});
  expect(called).toEqual(['grpc mail.parse', 'http https://hooks.example.com/']);
});
