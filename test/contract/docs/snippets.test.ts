// Code of the documentation: modules in TypeScript are typed, served and called; the one in Python is a file that tests call.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../platform/rpc/client.ts';
import { Module, ReturnCode } from '../../../proto/gen/weir/module/v1/module_pb.js';
import { startServer } from '../../real/peers/programs.ts';
import { readDocument, root } from './markdown.ts';

/** Milliseconds; a start of Node with TypeScript, on a machine that is busy. */
const timeoutMs = 60_000;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A module's code as a program that takes a free port and prints its address, whether or not its author had it say so. */
function asProgram(snippet: string): string {
  const served = snippet
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:0')
    .replace(/^(?:const served = )?await serveModule/m, 'const served = await serveModule')
    .replaceAll(/^console\.log.*\n/gm, '');
  return `${served}console.log(served.address);\n`;
}

describe('modules in TypeScript', () => {
  const snippets = ['README.md', 'workers/typescript/README.md'].map((path) => {
    const block = readDocument(path).blocks.find(
      ({ language, text }) => language === 'ts' && text.includes('serveModule('),
    );
    if (!block) throw new Error(`${path} has no module`);
    return { path, file: `${path.replaceAll(/\W/g, '-')}.ts`, text: block.text };
  });
  let directory = '';

  beforeAll(async () => {
    // Inside the repository, where `@weir/module` is found by its name as in a project of its own.
    await mkdir(join(root, '.cache'), { recursive: true });
    directory = await mkdtemp(join(root, '.cache/snippets-'));
    for (const { file, text } of snippets) await writeFile(join(directory, file), asProgram(text));
    const configuration = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(configuration));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('have the types that the SDK wants', { timeout: timeoutMs }, async () => {
    const checked = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['--project', directory]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    expect(checked.stdout).toBe('');
  });

  it.each(snippets)('$path: it answers a call', { timeout: timeoutMs }, async ({ file }) => {
    const server = await startServer(process.execPath, join(directory, file));
    const client = connect(Module, server.address);
    const fields = [{ key: bytes('text'), value: bytes('weir') }];
    const response = await client.process({ rowkey: bytes('row'), fields }, { timeoutMs });
    const upper = [{ key: bytes('upper'), value: bytes('WEIR') }];
    expect(response).toMatchObject({ code: ReturnCode.SUCC, rowkey: bytes('row'), fields: upper });
    client.close();
    expect(await server.stop()).toBe(0);
  });
});

it('the module in Python is the one that is tested', async () => {
  const [block] = readDocument('docs/modules.md').blocks.filter(({ language }) => language === 'python');
  expect(block?.text).toBe(await readFile(join(root, 'test/real/peers/echo_module.py'), 'utf8'));
});
