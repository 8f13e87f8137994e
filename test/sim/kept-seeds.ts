// The seeds of seeds.txt.

import { readFileSync } from 'node:fs';

export interface KeptSeed {
  readonly seed: number;
  readonly why: string;
}

export function keptSeeds(): KeptSeed[] {
  const text = readFileSync(new URL('seeds.txt', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => {
    const found = /^(\d+)\s+(\S.*)$/.exec(line);
    if (found) return [{ seed: Number(found[1]), why: found[2] ?? '' }];
    if (line !== '' && !line.startsWith('#'))
      throw new Error(`seeds.txt: a line is a seed and a reason, found ${JSON.stringify(line)}`);
    return [];
  });
}
