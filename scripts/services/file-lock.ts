// Locks between processes. Node has no flock, SQLite has: a transaction on a lock file lasts as long as the process that
// opened it and ends with it, however it ends, so there is no stale lock to recognise.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceFailure } from './failure.ts';

/** `exclusive`: nobody else. `shared`: others who share, but nobody exclusive. */
export type LockMode = 'exclusive' | 'shared';

export interface FileLock {
  release(): void;
}

export interface LockOptions {
  readonly mode: LockMode;
  /** How long to wait for the others. Default 15 minutes: a first install over a slow line ends within it. */
  readonly waitMs?: number;
  /** Called once when the lock isn't free at once. */
  readonly onWait?: () => void;
}

const defaultWaitMs = 15 * 60_000;
const pollMs = 100;
/** SQLITE_BUSY: another process holds the lock. */
const busyCode = 5;

/** The lock if it is free now, else undefined. */
export function tryLock(path: string, mode: LockMode): FileLock | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec(mode === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busyCode) return undefined;
    throw error;
  }
  return { release: () => database.close() };
}

/** Waits for the lock. Throws ServiceFailure when others hold it for longer than `waitMs`. */
export async function lockFile(path: string, options: LockOptions): Promise<FileLock> {
  const waitMs = options.waitMs ?? defaultWaitMs;
  const giveUpMs = performance.now() + waitMs;
  let told = false;
  for (;;) {
    const lock = tryLock(path, options.mode);
    if (lock !== undefined) return lock;
    if (!told) options.onWait?.();
    told = true;
    if (performance.now() > giveUpMs) {
      throw new ServiceFailure(`another process has been holding ${path} for ${waitMs / 1000} s: see who has it open`);
    }
    await delay(pollMs);
  }
}

/** Runs `work` under the exclusive lock. */
export async function underLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  const lock = await lockFile(path, { mode: 'exclusive', ...(onWait && { onWait }) });
  try {
    return await work();
  } finally {
    lock.release();
  }
}
