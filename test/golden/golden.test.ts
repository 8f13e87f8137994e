import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { play } from './scenario.ts';

const folder = import.meta.dirname;
const writing = process.env['WEIR_GOLDEN'] === 'write';

describe('golden traces', () => {
  const files = globSync('**/*.txt', { cwd: folder }).sort();

  it('exist', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  for (const file of files) {
    it(relative(folder, join(folder, file)), () => {
      const path = join(folder, file);
      const text = readFileSync(path, 'utf8');
      const played = play(text);
      if (writing) writeFileSync(path, played);
      else expect(played).toBe(text);
    });
  }
});
