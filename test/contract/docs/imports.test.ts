// The worked example of an import, both ways.

import { describe, expect, it } from 'vitest';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { printFlow } from '../../../flow/definition/print-flow.ts';
import { readPipeline } from '../../../flow/import/read-pipeline.ts';
import { writePipeline } from '../../../flow/import/write-pipeline.ts';
import { readDocument } from './markdown.ts';

const { blocks } = readDocument('docs/imports.md');
const textOf = (language: string): string => blocks.find((block) => block.language === language)?.text ?? '';

describe('docs/imports.md', () => {
  it('shows what the pipeline becomes', () => {
    const reading = readPipeline(textOf('json'), { business: 'video', name: 'advertisement' });
    expect(reading.kind === 'flow' ? printFlow(reading.flow) : reading.problems).toBe(textOf('yaml'));
  });

  it('shows what comes back', () => {
    const parsed = parseFlow(textOf('yaml'));
    if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
    expect(writePipeline(parsed.flow)).toEqual({ kind: 'pipeline', file: JSON.parse(textOf('json')) as unknown });
  });
});
