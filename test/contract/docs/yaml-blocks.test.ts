// Every YAML block of the documentation is what a reader may copy: a flow, a part of one, or a directory of modules. A block
// that is marked `<!-- refused -->` is refused, with the message in the text block that follows it.

import { describe, expect, it } from 'vitest';
import { printProblem } from '../../../cli/flow-file.ts';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { allDocuments, type Block } from './markdown.ts';

interface Reading {
  readonly file: string;
  readonly problems: ReadonlyArray<{ path: string; message: string; line: number; column: number }>;
}

function read({ text }: Block): Reading {
  const keys = [...text.matchAll(/^([a-z_]+):/gm)].map((match) => match[1] ?? '');
  const [first] = keys;
  switch (first) {
    case 'modules': {
      const reading = readModules(text);
      return { file: 'modules.yaml', problems: reading.ok ? [] : reading.problems };
    }
    case 'flow':
      return readFlow(text);
    case 'fields':
    case 'deadline':
    case 'steps':
    case 'on_exit': {
      // Whatever a whole flow needs besides goes behind the part, so that lines stay as they are.
      const steps = keys.includes('steps') ? '' : 'steps: { work: { call: some.module } }\n';
      return readFlow(`${text}flow: part\nbusiness: documentation\n${steps}`);
    }
    default:
      throw new Error(`a YAML block begins with the key ${first}, which says neither flow nor modules`);
  }
}

function readFlow(text: string): Reading {
  const parsed = parseFlow(text);
  if (parsed.kind === 'flow') compileFlow(parsed.flow, 1);
  return { file: 'greeting.flow.yaml', problems: parsed.kind === 'flow' ? [] : parsed.problems };
}

function printed({ file, problems }: Reading): string {
  return problems.map((problem) => `${printProblem({ file, ...problem })}\n`).join('');
}

const documents = allDocuments().filter(({ blocks }) => blocks.some(({ language }) => language === 'yaml'));

describe.each(documents)('YAML in $path', ({ blocks }) => {
  const yaml = blocks.filter(({ language }) => language === 'yaml');
  const accepted = yaml.filter(({ marker }) => marker !== 'refused');
  const refused = yaml.filter(({ marker }) => marker === 'refused');

  for (const block of accepted) {
    it(`line ${block.line} is accepted`, () => expect(printed(read(block))).toBe(''));
  }
  for (const block of refused) {
    it(`line ${block.line} is refused in these words`, () => {
      const message = blocks[blocks.indexOf(block) + 1];
      expect(message?.language).toBe('text');
      expect(printed(read(block))).toBe(message?.text);
    });
  }
});

it('there are YAML blocks, refused ones among them', () => {
  expect(documents.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'docs/flows.md', 'docs/modules.md']),
  );
  expect(documents.flatMap(({ blocks }) => blocks).some(({ marker }) => marker === 'refused')).toBe(true);
});
