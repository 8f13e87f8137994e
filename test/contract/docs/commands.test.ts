// Command lines of the documentation name commands, flags and as many arguments as there are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../cli/program.ts';
import { allDocuments, readDocument, root } from './markdown.ts';

const program = createProgram();
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** What is wrong with the words after `weir`, or undefined. */
function problemOf(words: readonly string[]): string | undefined {
  let command = program;
  const path = ['weir'];
  const values: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const inner: Command | undefined =
      values.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (inner) {
      command = inner;
      path.push(word);
    } else if (word === '--help') return undefined;
    else if (word.startsWith('--')) {
      const option = command.options.find(({ long }) => long === word.split('=')[0]);
      if (!option) return `${path.join(' ')} has no flag ${word}`;
      if (option.required && !word.includes('=')) index++;
    } else values.push(word);
  }
  if (command.commands.length > 0) return `${path.join(' ')} has no command ${values[0] ?? ''}`;
  const { registeredArguments } = command;
  const least = registeredArguments.filter(({ required }) => required).length;
  const most = registeredArguments.some(({ variadic }) => variadic)
    ? Number.POSITIVE_INFINITY
    : registeredArguments.length;
  if (values.length >= least && values.length <= most) return undefined;
  return `${path.join(' ')} has ${registeredArguments.length} arguments, found ${values.length}`;
}

/** The command lines of shell blocks, and those in backticks in the text, that begin with `start`. */
function commandLines(start: string): Array<{ line: string; words: string[] }> {
  return allDocuments().flatMap(({ path, blocks }) => {
    const inBlocks = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'));
    const text = readFileSync(join(root, path), 'utf8');
    const inProse = [...text.matchAll(/`(npm [^`\n]+)`/g)].map((match) => match[1] ?? '');
    return [...inBlocks, ...inProse]
      .map((each) => each.replace(/\s+#.*$/, '').trim())
      .filter((each) => each.startsWith(start))
      .map((each) => ({ line: `${path}: ${each}`, words: wordsOf(each.slice(start.length)) }));
  });
}

/** As a shell takes a line apart: what stands in quotes is one word. */
function wordsOf(line: string): string[] {
  return line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
}

describe('command lines', () => {
  it.each(commandLines('npm run weir -- '))('$line', ({ words }) => {
    expect(problemOf(words)).toBeUndefined();
  });

  it.each(commandLines('npm run '))('$line is a script', ({ words: [script = ''] }) => {
    expect(Object.keys(scripts)).toContain(script);
  });

  it('are found in the README', () => {
    const shell = readDocument('README.md').blocks.filter(({ language }) => language === 'sh');
    expect(shell.some(({ text }) => text.includes('npm run weir -- run get'))).toBe(true);
  });

  it('that are wrong are noticed', () => {
    expect(problemOf(['flow', 'pull', 'x'])).toBe('weir flow has no command pull');
    expect(problemOf(['flow', 'push', 'x', '--relase'])).toBe('weir flow push has no flag --relase');
    expect(problemOf(['run', 'get'])).toBe('weir run get has 1 arguments, found 0');
  });
});
