// What the tests need to see of a Markdown file: its code blocks, tables, links and headings.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

export interface Block {
  /** Of the line that opens it, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What an HTML comment right before it says: `<!-- refused -->`; empty when there is none. */
  readonly marker: string;
}

export interface Link {
  /** From 1. */
  readonly line: number;
  readonly target: string;
}

export interface Document {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly blocks: readonly Block[];
  readonly links: readonly Link[];
  /** Anchors of its headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** Rows of the table that stands first below a heading, without its head: cells by row. Throws when there is none. */
  table(this: void, heading: string): string[][];
}

const ignoredFolders: ReadonlySet<string> = new Set(['node_modules', 'weir-data', '.services', '.cache', 'coverage']);

/** Every Markdown file of the repository. */
export function allDocuments(): Document[] {
  const exclude = (path: string): boolean => path.split('/').some((name) => ignoredFolders.has(name));
  const paths = globSync('**/*.md', { cwd: root, exclude }).toSorted();
  return paths.map(readDocument);
}

export function readDocument(path: string): Document {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { readonly line: number; readonly language: string; readonly indent: number } | undefined;
  for (const [index, text] of lines.entries()) {
    const fence = /^( *)```(\S*)/.exec(text);
    if (open && fence) {
      const { line, language, indent } = open;
      const inside = lines.slice(line, index).map((each) => each.slice(indent));
      const marker = /^<!-- (.*) -->$/.exec(prose.findLast((each) => each !== '') ?? '')?.[1] ?? '';
      blocks.push({ line, language, text: `${inside.join('\n')}\n`, marker });
      open = undefined;
    } else if (fence) open = { line: index + 1, language: fence[2] ?? '', indent: fence[1]?.length ?? 0 };
    // Blocks leave empty lines behind, so that places stay as they are.
    prose.push(open || fence ? '' : text);
  }
  if (open) throw new Error(`${path}:${open.line}: a code block that nobody closes`);
  return {
    path,
    blocks,
    links: prose.flatMap((text, index) => linksOf(text).map((target) => ({ line: index + 1, target }))),
    anchors: new Set(prose.filter((text) => /^#+ /.test(text)).map(anchorOf)),
    table: (heading) => tableBelow(prose, heading),
  };
}

function linksOf(text: string): string[] {
  // What stands in code is no link.
  const plain = text.replaceAll(/`[^`]*`/g, '``');
  // `[text](target)`, and `[name]: target` on a line of its own.
  return [...plain.matchAll(/\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)$/g)].map((match) => match[1] ?? match[2] ?? '');
}

function anchorOf(heading: string): string {
  const words = heading.replace(/^#+ /, '').toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
}

function tableBelow(prose: readonly string[], heading: string): string[][] {
  const at = prose.findIndex((text) => /^#+ /.test(text) && text.replace(/^#+ /, '') === heading);
  const begin = at < 0 ? -1 : prose.findIndex((text, index) => index > at && text.startsWith('|'));
  if (begin < 0) throw new Error(`no table below the heading ${JSON.stringify(heading)}`);
  const end = prose.findIndex((text, index) => index > begin && !text.startsWith('|'));
  // Head and rule come first.
  return prose.slice(begin + 2, end < 0 ? undefined : end).map(cellsOf);
}

function cellsOf(row: string): string[] {
  const cells = row.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** The text between the first pair of backticks in a cell; the whole cell without one. */
export function codeIn(cell: string): string {
  return /`([^`]*)`/.exec(cell)?.[1] ?? cell;
}
