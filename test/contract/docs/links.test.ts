import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allDocuments, type Document, type Link, root } from './markdown.ts';

const documents = new Map(allDocuments().map((document) => [document.path, document]));

/** Why a link leads nowhere, or undefined. Links to other hosts are not followed. */
function broken({ path }: Document, { target }: Link): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const found = file === '' ? path : relative(root, join(root, dirname(path), file));
  if (!existsSync(join(root, found))) return `${target} does not exist`;
  if (anchor === undefined || documents.get(found)?.anchors.has(anchor)) return undefined;
  return `${found} has no heading #${anchor}`;
}

describe('links', () => {
  it.each([...documents.values()])('in $path lead somewhere', (document) => {
    const problems = document.links.flatMap((link) => {
      const problem = broken(document, link);
      return problem === undefined ? [] : [`${document.path}:${link.line}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  it('lead from the README to every page of docs', () => {
    const pages = [...documents.keys()].filter((path) => path.startsWith('docs/'));
    const linked = documents.get('README.md')?.links.map(({ target }) => target) ?? [];
    expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
  });
});
