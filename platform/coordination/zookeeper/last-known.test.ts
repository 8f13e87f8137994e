import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LastKnown } from './last-known.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('LastKnown', () => {
  let folder: string;
  const problems: string[] = [];
  const onProblem = (problem: string) => void problems.push(problem);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-last-known-'));
    problems.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('knows the newest after a restart', async () => {
    const before = new LastKnown({ folder: join(folder, 'new'), onProblem });
    for (let version = 0; version < 50; version++) before.keep('a', bytes(`a${version}`));
    before.keep('b\n', bytes(''));
    await before.settled();
    const after = new LastKnown({ folder: join(folder, 'new'), onProblem });
    expect(await after.find('a')).toEqual(bytes('a49'));
    expect(await after.find('b\n')).toEqual(bytes(''));
    expect(await after.find('c')).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('takes no damaged file', async () => {
    const before = new LastKnown({ folder, onProblem });
    before.keep('a', bytes('value'));
    await before.settled();
    const [name = ''] = readdirSync(folder);
    const file = join(folder, name);
    for (const damage of [(data: Buffer) => data.subarray(0, -1), () => Buffer.alloc(0), () => Buffer.from('\n')]) {
      const whole = readFileSync(file);
      writeFileSync(file, damage(whole));
      expect(await new LastKnown({ folder, onProblem }).find('a')).toBeUndefined();
      writeFileSync(file, whole);
    }
    expect(problems).toHaveLength(3);
    expect(problems[0]).toContain(file);
  });

  it('says when the folder is not usable, and keeps what it has in memory', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const lastKnown = new LastKnown({ folder: file, onProblem });
    lastKnown.keep('a', bytes('value'));
    await lastKnown.settled();
    expect(await lastKnown.find('a')).toEqual(bytes('value'));
    expect(problems.length).toBeGreaterThan(0);
  });

  it('needs no folder', async () => {
    const lastKnown = new LastKnown({ onProblem });
    lastKnown.keep('a', bytes('value'));
    expect(await lastKnown.find('a')).toEqual(bytes('value'));
    expect(await lastKnown.find('b')).toBeUndefined();
  });
});
