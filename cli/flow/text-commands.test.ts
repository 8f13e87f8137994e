// What the commands on texts print, and how they end.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CommandFailure } from '../failure.ts';
import type { Printer } from '../output/printer.ts';
import { drawFlow } from './draw.ts';
import { exportFlow, importFlow } from './exchange.ts';
import { simulateFlow } from './simulate.ts';

let folder = '';

const files = {
  'one.flow.yaml': 'flow: one\nbusiness: b\nsteps:\n  a: { call: m, receive: [x] }\n',
  'bad.flow.yaml': 'flow: bad\nbusiness: b\nsteps: { a: { call: m, after: [b] } }\n',
  'good.script.yaml': 'steps:\n  a: [{ answer: SUCC, fields: { x: 1 }, after: 20ms }, SUCC]\n',
  'failing.script.yaml': 'steps: { a: FATAL_ERROR }\n',
  'silent.script.yaml': 'inputs: {}\n',
  'wrong.script.yaml': 'steps:\n  b: SUCC\n',
  'pipeline.json': '{"pipeline":{"name":"p","tasks":[{"id":"a","className":"ATask"}]}}',
  'wrong.json': '{"pipeline":{"name":"p","tasks":[{"id":"a","className":"ATask","x":1}]}}',
} as const;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-flow-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly lines: readonly string[];
  readonly message: string;
}

function run(command: (printer: Printer) => void, json = false): Ended {
  const lines: string[] = [];
  const printer = { json, line: (text: string) => lines.push(...text.split('\n')) };
  try {
    command(printer);
    return { code: 0, lines, message: '' };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { code: error.exitCode, lines, message: error.message.replaceAll(folder, '') };
  }
}

const at = (name: keyof typeof files): string => join(folder, name);

describe('weir flow simulate', () => {
  it('prints the trace, warns of what nobody asked for, and ends with 0 when the run succeeds', () => {
    const warned = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { code, lines } = run((printer) => simulateFlow(at('one.flow.yaml'), at('good.script.yaml'), printer));
    expect(code).toBe(0);
    expect([lines[0], lines[4], lines.at(-1)]).toEqual([
      '+0s submit',
      '+0.02s a answers SUCC x="1"',
      'SUCCEEDED after 0.02s',
    ]);
    expect(warned.mock.calls).toEqual([[`warning: ${at('good.script.yaml')}:2:56: steps.a: SUCC was not asked for`]]);
    warned.mockRestore();
  });

  it('prints JSON, one object for each decision and one for the end', () => {
    const { code, lines } = run(
      (printer) => simulateFlow(at('one.flow.yaml'), at('failing.script.yaml'), printer),
      true,
    );
    expect(code).toBe(1);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { atMs: 0, what: 'submit', trace: expect.arrayContaining(['run: new → OPEN']) },
      { atMs: 0, what: 'a answers FATAL_ERROR', trace: expect.arrayContaining(['= ended']) },
      { atMs: 0, state: 'FAILED', reason: 'FATAL', detail: 'step a: module m: FATAL, without a message' },
    ]);
  });

  it.each<[string, keyof typeof files, keyof typeof files, string]>([
    [
      'flow',
      'bad.flow.yaml',
      'good.script.yaml',
      'not a valid flow\n/bad.flow.yaml:3:32: steps.a.after[0]: no step is called "b"',
    ],
    [
      'script',
      'one.flow.yaml',
      'wrong.script.yaml',
      '--script: nothing was simulated\n/wrong.script.yaml:2:3: steps.b: no step is called "b"',
    ],
    [
      'call without an answer',
      'one.flow.yaml',
      'silent.script.yaml',
      '/silent.script.yaml:1:1: steps.a: call 1 of step a has no answer: add one to steps.a, or give an otherwise',
    ],
  ])('ends with 2 for a wrong %s', (_, flow, script, message) => {
    expect(run((printer) => simulateFlow(at(flow), at(script), printer))).toMatchObject({ code: 2, message });
  });
});

describe('weir flow draw', () => {
  it('prints a flowchart in the direction that is asked for', () => {
    const drawn = ['flowchart LR', '  s_a["a<br/>m"]'];
    expect(run((printer) => drawFlow(at('one.flow.yaml'), 'LR', printer))).toMatchObject({ code: 0, lines: drawn });
  });
});

describe('weir flow import and export', () => {
  it('print a flow, and the definition that it came from', () => {
    const imported = run((printer) => importFlow(at('pipeline.json'), { business: 'b' }, printer));
    expect(imported.lines).toEqual(['flow: p', 'business: b', 'steps:', '  a: { call: a }']);
    writeFileSync(join(folder, 'imported.flow.yaml'), imported.lines.join('\n'));
    const exported = run((printer) => exportFlow(join(folder, 'imported.flow.yaml'), printer));
    expect(JSON.parse(exported.lines.join('\n'))).toEqual({
      pipeline: { ...JSON.parse(files['pipeline.json']).pipeline, dependencies: [] },
    });
  });

  it('end with 2 and say where what they do not know is', () => {
    expect(run((printer) => importFlow(at('wrong.json'), { business: 'b' }, printer))).toMatchObject({
      code: 2,
      message:
        'nothing was imported\n/wrong.json:1:64: pipeline.tasks[0].x: a task has no key "x"; allowed are id, className',
    });
    expect(run((printer) => exportFlow(at('one.flow.yaml'), printer))).toMatchObject({
      code: 2,
      message: 'nothing was exported\n/one.flow.yaml:4:17: steps.a.receive: step a: a task has no receive',
    });
  });
});
