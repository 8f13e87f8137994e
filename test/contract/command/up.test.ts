// `weir up` as a process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, program, weir } from './weir.ts';

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(`${tmpdir()}/weir-up-`);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Starts an engine and waits for the line that says that it is ready. */
async function up(...words: string[]) {
  const child = spawn(
    process.execPath,
    [program, 'up', '--data', `${folder}/data`, '--address', '127.0.0.1:0', ...words],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  children.push(child);
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const [ready] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  return { child, ready, stop };
}

describe('weir up', { timeout: 60_000 }, () => {
  it('says when it is ready, serves, and stops with 0 when it is told to', async () => {
    await writeFile(`${folder}/a.flow.yaml`, '{ flow: a, business: test, steps: { a: { call: test.a } } }');
    await writeFile(`${folder}/modules.yaml`, "modules: { test.a: { endpoints: ['127.0.0.1:1'] } }");
    const { ready, stop } = await up('--flows', folder, '--modules', `${folder}/modules.yaml`, '--json');
    const said = JSON.parse(ready) as { address: string };
    expect(said).toMatchObject({ data: `${folder}/data`, flows: [{ name: 'a', version: 1 }], modules: ['test.a'] });
    expect(json(await weir(said.address, ['flow', 'list', '--json']))).toMatchObject([
      { name: 'a', business: 'test', newestVersion: 1, releasedVersion: 1 },
    ]);
    const item = '{"business":"test","flow":"a","key":"k"}\n';
    expect(await weir(said.address, ['submit', '-'], item)).toMatchObject({ code: 0 });
    expect(await stop()).toBe(0);
    const again = await up();
    expect(again.ready).toMatch(/^Weir is ready at 127\.0\.0\.1:\d+; data in .*; flows: none given; modules: 0$/);
    const address = /127\.0\.0\.1:\d+/.exec(again.ready)?.[0] ?? '';
    expect(json(await weir(address, ['run', 'list', '--json']))).toMatchObject([{ run: 'test/a/k', state: 'OPEN' }]);
    expect(await again.stop()).toBe(0);
  });

  it('refuses a second process on the same folder', async () => {
    const { child, stop } = await up();
    const second = await weir('', ['up', '--data', `${folder}/data`, '--address', '127.0.0.1:0']);
    expect(second).toEqual({
      code: 2,
      stdout: '',
      stderr: `weir: --data: The data folder ${folder}/data is in use by another process (pid ${child.pid})\n`,
    });
    expect(await stop()).toBe(0);
  });

  it('ends at once with 130 at a second signal', async () => {
    await writeFile(`${folder}/a.flow.yaml`, '{ flow: a, business: test, steps: { a: { call: test.a } } }');
    // Takes connections and never says a word: the call stays out.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await writeFile(`${folder}/modules.yaml`, `modules: { test.a: { endpoints: ['127.0.0.1:${port}'] } }`);
    const { child, ready, stop } = await up('--flows', folder, '--modules', `${folder}/modules.yaml`);
    const address = /127\.0\.0\.1:\d+/.exec(ready)?.[0] ?? '';
    await weir(address, ['submit', '-'], '{"business":"test","flow":"a","key":"k"}\n');
    child.kill('SIGTERM');
    const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
    expect(line).toContain('stopping');
    expect(await stop()).toBe(130);
    silent.close();
  });

  it('refuses an address that is taken, and leaves the folder free', async () => {
    const { ready, stop } = await up();
    const address = /127\.0\.0\.1:\d+/.exec(ready)?.[0] ?? '';
    for (const _ of [1, 2]) {
      const second = await weir('', ['up', '--data', `${folder}/other`, '--address', address]);
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`weir: --address: cannot listen on ${address}`);
    }
    expect(await stop()).toBe(0);
  });
});
