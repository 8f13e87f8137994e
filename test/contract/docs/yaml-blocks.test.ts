// Every YAML block of the documentation is what a reader may copy: a flow, a part of one, routes, a directory of modules, or a cluster
// file. A block that is marked `<!-- refused -->` is refused, with the message in the text block that follows it.

import { describe, expect, it } from 'vitest';
import { readClusterFile } from '../../../cli/cluster/cluster-file.ts';
import { printProblem } from '../../../cli/flow-file.ts';
import { readModules } from '../../../dispatch/modules/configuration.ts';
import { compileFlow } from '../../../flow/compile.ts';
import { parseFlow } from '../../../flow/definition/definition.ts';
import { parseRoutes } from '../../../flow/routing/definition.ts';
import { keysOf, wholeFlow } from './flow-part.ts';
import { allDocuments, type Block } from './markdown.ts';

interface Reading {
  readonly file: string;
  readonly problems: ReadonlyArray<{ path: string; message: string; line: number; column: number }>;
}

function read({ text }: Block): Reading {
  const [first] = keysOf(text);
  switch (first) {
    case 'modules': {
      const reading = readModules(text);
      return { file: 'modules.yaml', problems: reading.ok ? [] : reading.problems };
    }
    case 'zookeeper': {
      const reading = readClusterFile(text, { REDIS_PASSWORD: 'secret' });
      return { file: 'cluster.yaml', problems: reading.ok ? [] : reading.problems };
    }
    case 'business': {
      const parsed = parseRoutes(text);
      return { file: 'mail.routes.yaml', problems: parsed.kind === 'routes' ? [] : parsed.problems };
    }
    case 'flow':
    case 'fields':
    case 'deadline':
    case 'steps':
    case 'on_exit':
      return readFlow(wholeFlow(text));
    default:
      throw new Error(
        `a YAML block begins with the key ${first}, which says neither flow, routes, modules nor cluster`,
      );
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
  // Scripts are played: simulations.test.ts.
  const yaml = blocks.filter(({ language, marker }) => language === 'yaml' && marker !== 'script');
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
