import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFile, tryLock, underLock } from './file-lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  path = join(folder, 'a.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('file locks', () => {
  it('let those who share in together, and one exclusive alone', () => {
    const first = tryLock(path, 'shared');
    const second = tryLock(path, 'shared');
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    first?.release();
    expect(tryLock(path, 'exclusive')).toBeUndefined();
    second?.release();
    const alone = tryLock(path, 'exclusive');
    expect(alone).toBeDefined();
    expect(tryLock(path, 'shared')).toBeUndefined();
    alone?.release();
  });

  it('make one wait for the other, and say so once', async () => {
    const order: string[] = [];
    const holder = tryLock(path, 'exclusive');
    const waiting = underLock(
      path,
      async () => void order.push('worked'),
      () => {
        order.push('waits');
        setImmediate(() => {
          order.push('released');
          holder?.release();
        });
      },
    );
    await waiting;
    expect(order).toEqual(['waits', 'released', 'worked']);
  });

  it('give up after a while', async () => {
    const holder = tryLock(path, 'exclusive');
    await expect(lockFile(path, { mode: 'shared', waitMs: 0 })).rejects.toThrow(/another process has been holding/);
    holder?.release();
  });

  it('end with the process that holds them, however it ends', async () => {
    const module = JSON.stringify(join(import.meta.dirname, 'file-lock.ts'));
    const program = `import { tryLock } from ${module};
      globalThis.lock = tryLock(${JSON.stringify(path)}, 'exclusive');
      setInterval(() => {}, 1000);
      console.log('held');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(tryLock(path, 'shared')).toBeUndefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = tryLock(path, 'exclusive');
    expect(lock).toBeDefined();
    lock?.release();
  });
});
