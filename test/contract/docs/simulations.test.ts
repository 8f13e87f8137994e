// Scripts of the documentation. A YAML block that is marked `<!-- script -->` is played on the flow before it; a text block that is
// marked `<!-- trace -->` is what comes of it, with `…` where lines are left out.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { readScript } from '../../../flow/simulation/script.ts';
import { simulate } from '../../../flow/simulation/simulate.ts';
import { describeEnd, describeMoment } from '../../../flow/simulation/trace.ts';
import { wholeFlow } from './flow-part.ts';
import { allDocuments, type Block, root } from './markdown.ts';

function played(flowText: string, scriptText: string): string[] {
  const parsed = parseFlow(wholeFlow(flowText));
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  const plan = compileFlow(parsed.flow, 1);
  const reading = readScript(scriptText, plan);
  if (reading.kind === 'problems') throw new Error(JSON.stringify(reading.problems));
  const simulation = simulate(plan, reading.script);
  expect(simulation.fault).toBeUndefined();
  expect(simulation.warnings).toEqual([]);
  return [...simulation.moments.flatMap(describeMoment), describeEnd(simulation)];
}

/** The first line of an excerpt that isn't where it should be; undefined when all are. */
function firstMissing(excerpt: readonly string[], lines: readonly string[]): string | undefined {
  let at = 0;
  let maySkip = true;
  for (const line of excerpt) {
    if (line === '…') {
      maySkip = true;
      continue;
    }
    const found = maySkip ? lines.indexOf(line, at) : lines[at] === line ? at : -1;
    if (found < 0) return line;
    at = found + 1;
    maySkip = false;
  }
  return undefined;
}

function scriptsOf(blocks: readonly Block[]) {
  return blocks.flatMap((script, index) => {
    if (script.marker !== 'script') return [];
    const flow = blocks.slice(0, index).findLast(({ language, marker }) => language === 'yaml' && marker === '');
    const next = blocks[index + 1];
    return [{ script, flow, trace: next?.marker === 'trace' ? next : undefined }];
  });
}

const documents = allDocuments()
  .map(({ path, blocks }) => ({ path, scripts: scriptsOf(blocks) }))
  .filter(({ scripts }) => scripts.length > 0);

describe.each(documents)('scripts in $path', ({ scripts }) => {
  it.each(scripts)('line $script.line', ({ script, flow, trace }) => {
    const lines = played(flow?.text ?? '', script.text);
    const missing = trace && firstMissing(trace.text.trimEnd().split('\n'), lines);
    expect(missing, lines.join('\n')).toBeUndefined();
  });
});

it('there are scripts of the kinds of steps that wait', () => {
  expect(documents.find(({ path }) => path === 'docs/flows.md')?.scripts.length).toBeGreaterThan(8);
});

it('the script of the example of mails succeeds', () => {
  const folder = join(root, 'examples/mail');
  const [flow, script] = ['mail-intake.flow.yaml', 'spam.script.yaml'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  );
  expect(played(flow ?? '', script ?? '').at(-1)).toMatch(/^SUCCEEDED/);
});
