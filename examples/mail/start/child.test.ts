import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Child } from './child.ts';

const child = (program: string, maxRestarts: number, onRestart: (message: string) => void = () => {}) =>
  new Child({
    name: 'sample',
    commandLine: ['--input-type=module', '--eval', program],
    logPath: join(mkdtempSync(join(tmpdir(), 'weir-mail-')), 'sample.log'),
    maxRestarts,
    restartDelayMs: 0,
    onRestart,
  });

describe('Child', () => {
  it('is started again until its restarts are used up, and says what it printed', async () => {
    const restarts: string[] = [];
    const failing = child('console.log("no port"); process.exitCode = 3', 2, (message) => restarts.push(message));
    expect(await failing.ended).toBe('sample ended with code 3. It printed last:\nno port\nno port\nno port');
    expect(restarts).toEqual([
      'sample ended with code 3; started again (1 of 2 times)',
      'sample ended with code 3; started again (2 of 2 times)',
    ]);
    await failing.stop();
  });

  it('stops, and is not started again', async () => {
    const restarts: string[] = [];
    const running = child('setInterval(() => {}, 1000)', 5, (message) => restarts.push(message));
    await running.stop();
    await running.stop();
    expect(restarts).toEqual([]);
  });
});
