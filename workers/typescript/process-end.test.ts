// What needs a process of its own: the README's module as it stands there, signals, and the end of the process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../platform/rpc/client.ts';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health_pb.js';
import { Module, ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const options = { timeoutMs: 10_000 };

/** Runs a program and waits for its first line, which ends with the address of the module. */
async function run(program: string) {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', program], {
    cwd: import.meta.dirname,
    env: { ...process.env, WEIR_MODULE_ADDRESS: '127.0.0.1:0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new Error(`the module printed nothing: ${errors}`);
  const address = first.value.split(' ').at(-1) ?? '';
  const client = connect(Module, address);
  const exit = once(child, 'exit').then(([code, signal]) => ({ code: code as unknown, signal: signal as unknown }));
  return {
    child,
    client,
    address,
    line: first.value,
    nextLine: async () => (await lines.next()).value,
    exit,
    errors: () => errors,
  };
}

/** A module with a call that ends when a signal has come. */
const gated = (serveOptions: string, releasing = 'none') => `
import { serveModule } from '@weir/module';
const gate = Promise.withResolvers();
process.on('${releasing}', gate.resolve);
const served = await serveModule({
  name: 'test.gated',
  input: { action: 'string' },
  output: {},
  process: async ({ fields }) => {
    if (fields.action === 'throw') throw new Error('first line\\nsecond line');
    if (fields.action === 'stop') void served.stop();
    if (fields.action === 'wait') { console.log('waiting'); await gate.promise; }
    return {};
  },
}, ${serveOptions});
console.log(served.address);
`;
const action = (name: string) => ({ fields: [{ key: bytes('action'), value: bytes(name) }] });

describe("the README's module", () => {
  const snippet = /```ts\n([\s\S]*?)```/.exec(readFileSync(`${import.meta.dirname}/README.md`, 'utf8'))?.[1] ?? '';

  it('is shorter than 15 lines and works', async () => {
    expect(snippet.trimEnd().split('\n').length).toBeLessThan(15);
    const { client, line } = await run(snippet);
    expect(line).toMatch(/^text\.upper at 127\.0\.0\.1:\d+$/);
    const response = await client.process({ fields: [{ key: bytes('text'), value: bytes('weir') }] }, options);
    expect(response.code).toBe(ReturnCode.SUCC);
    expect(response.fields).toMatchObject([{ key: bytes('upper'), value: bytes('WEIR') }]);
    client.close();
  });
});

describe('a process with a module', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 at %s after its running calls', async (signal) => {
    const { child, client, nextLine, exit } = await run(gated('{}', signal));
    const running = client.process(action('wait'), options);
    expect(await nextLine()).toBe('waiting');
    child.kill(signal);
    expect((await running).code).toBe(ReturnCode.SUCC);
    expect(await exit).toEqual({ code: 0, signal: null });
    client.close();
  });

  it('cuts the calls that outlast the grace', async () => {
    const { child, client, nextLine, exit } = await run(gated('{ graceMs: 1 }'));
    const running = client.process(action('wait'), options);
    running.catch(() => {});
    expect(await nextLine()).toBe('waiting');
    child.kill('SIGTERM');
    await expect(running).rejects.toMatchObject({ origin: 'lost' });
    expect(await exit).toEqual({ code: 0, signal: null });
    client.close();
  });

  it('ends at once at the second signal', async () => {
    const { child, client, address, nextLine, exit } = await run(gated('{ graceMs: 600_000 }'));
    const running = client.process(action('wait'), options);
    running.catch(() => {});
    expect(await nextLine()).toBe('waiting');
    // A watcher of health hears of the first signal.
    const health = connect(Health, address);
    for await (const { status } of health.watch({})) {
      child.kill('SIGTERM');
      if (status === ServingStatus.NOT_SERVING) break;
    }
    expect(await exit).toEqual({ code: 1, signal: null });
    client.close();
    health.close();
  });

  it('keeps its own handling of signals when told so', async () => {
    const { child, client, exit } = await run(gated('{ handleSignals: false }'));
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: null, signal: 'SIGTERM' });
    client.close();
  });

  it('has no timer left when its calls are done and its module has stopped', async () => {
    const { client, exit, errors } = await run(gated('{}'));
    const anHour = { timeoutMs: 3_600_000 };
    expect((await client.process({ ...action('none'), timeoutMs: 3_000_000n }, anHour)).code).toBe(ReturnCode.SUCC);
    expect((await client.process(action('stop'), options)).code).toBe(ReturnCode.SUCC);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(errors()).toBe('');
    client.close();
  });

  it('reports a bug as one line on stderr', async () => {
    const { client, child, exit, errors } = await run(gated('{}'));
    const response = await client.process(action('throw'), options);
    expect(response.code).toBe(ReturnCode.SVR_INNER_ERR);
    child.kill('SIGTERM');
    await exit;
    expect(errors()).toMatch(/^test\.gated: Error: first line \| second line \| at .*\n$/);
    client.close();
  });
});
