// The folder that holds all of a single machine's state, and the lock that keeps a second process out of it.
//
// Node has no flock, SQLite has: an exclusive transaction on lock.db lasts as long as this process and ends with it, however
// it ends. Nothing else may open lock.db: on POSIX, closing any descriptor of a file drops the process's locks on it.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DataFolderError } from './data-folder-error.ts';
import { causeOf, primaryCode, sqliteCode } from './sqlite-error.ts';

/** Rises when a file is added whose absence an older Weir would take for an empty one. */
const folderFormat = 1;

export interface DataFolder {
  /** Absolute. */
  readonly path: string;
  /** Absolute path of a file in it. */
  file(name: string): string;
  /** Lets another process have it. */
  close(): void;
}

/** Creates the folder if need be and locks it. Throws DataFolderError: in use, a file, not writable, written by a newer Weir. */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  createFolder(path);
  const ownerFile = join(path, 'owner');
  const lock = takeLock(path, ownerFile);
  try {
    writeFileSync(ownerFile, `${process.pid}\n`);
  } catch (error) {
    lock.close();
    throw new DataFolderError('not-writable', `The data folder ${path} can't be written: ${causeOf(error)}`, error);
  }
  return {
    path,
    file: (name) => join(path, name),
    close() {
      rmSync(ownerFile, { force: true });
      lock.close();
    },
  };
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw new DataFolderError('not-a-folder', `${path} is a file, or lies below one: name a folder`, error);
    }
    throw new DataFolderError('not-writable', `The data folder ${path} can't be created: ${causeOf(error)}`, error);
  }
}

function takeLock(path: string, ownerFile: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, 'lock.db'), { timeout: 0 });
    // With this mode the lock stays between two transactions.
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const format = Number(lock.prepare('PRAGMA user_version').get()?.['user_version']);
    if (format > folderFormat) {
      throw new DataFolderError(
        'newer',
        `The data folder ${path} was written by a newer Weir (format ${format}, this one knows ${folderFormat}): ` +
          'use that version or another folder',
      );
    }
    lock.exec(`PRAGMA user_version = ${folderFormat}; COMMIT; BEGIN EXCLUSIVE`);
    return lock;
  } catch (error) {
    lock?.close();
    throw error instanceof DataFolderError ? error : describe(path, ownerFile, error);
  }
}

function describe(path: string, ownerFile: string, error: unknown): unknown {
  switch (primaryCode(error)) {
    case undefined:
      return error;
    case sqliteCode.busy:
      return new DataFolderError(
        'in-use',
        `The data folder ${path} is in use by another process${owner(ownerFile)}`,
        error,
      );
    case sqliteCode.notADatabase:
      return new DataFolderError('foreign', `${join(path, 'lock.db')} is not Weir's: name another folder`, error);
    default:
      return new DataFolderError('not-writable', `The data folder ${path} can't be written: ${causeOf(error)}`, error);
  }
}

/** A hint only: the owner may be about to write it. */
function owner(ownerFile: string): string {
  try {
    const pid = readFileSync(ownerFile, 'utf8').trim();
    return /^\d{1,10}$/.test(pid) ? ` (pid ${pid})` : '';
  } catch {
    return '';
  }
}
