// Drawings of flows: a flow, a line `---`, and what is drawn of it.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFlow } from '../../flow/definition/definition.ts';
import { stepKinds } from '../../flow/definition/step-kinds.ts';
import { drawMermaid } from '../../flow/drawing/mermaid.ts';

const folder = join(import.meta.dirname, 'drawing');
const writing = process.env['WEIR_GOLDEN'] === 'write';
const files = globSync('*.mmd', { cwd: folder }).toSorted();
const separator = '\n---\n';

function draw(text: string): string {
  const head = text.slice(0, text.indexOf(separator));
  const parsed = parseFlow(head);
  if (parsed.kind === 'problems') {
    throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  }
  return `${head}${separator}${drawMermaid(parsed.flow, 'LR')}`;
}

describe('golden drawings', () => {
  it('exist of every kind of step', () => {
    expect(files).toEqual(expect.arrayContaining(Object.keys(stepKinds).map((kind) => `${kind}.mmd`)));
  });

  it.each(files)('%s', (file) => {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const drawn = draw(text);
    if (writing) writeFileSync(path, drawn);
    else expect(drawn).toBe(text);
  });
});
