// Configuration of a single machine: one small SQLite file in the data folder, which only this process writes.
//
// Invariants:
//   C1  A put is one statement, on the disk before it is answered; the compare is part of it.
//   C2  Listeners hear of a change after it is stored.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Configuration, ConfigurationEntry, PutResult } from './configuration.ts';
import { checkPath, checkValue, childName } from './configuration-path.ts';
import { ConfigurationWatchers } from './configuration-watchers.ts';

/** Rises with each change of the table. */
const schemaVersion = 1;

export class SqliteConfiguration implements Configuration {
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #below: StatementSync;
  readonly #watchers = new ConfigurationWatchers();

  /** Opens or creates the file. Throws when it can't be used, naming it. */
  constructor(file: string) {
    this.#database = openFile(file);
    this.#select = this.#database.prepare('SELECT value, version FROM entry WHERE path = ?');
    this.#insert = this.#database.prepare(
      'INSERT INTO entry (path, value, version) VALUES (?, ?, 1) ON CONFLICT DO NOTHING',
    );
    this.#update = this.#database.prepare(
      'UPDATE entry SET value = ?, version = version + 1 WHERE path = ? AND version = ?',
    );
    // "0" is the character after "/".
    this.#below = this.#database.prepare(`SELECT path FROM entry WHERE path > ?1 || '/' AND path < ?1 || '0'`);
  }

  async get(path: string): Promise<ConfigurationEntry | undefined> {
    checkPath(path);
    const row = this.#select.get(path);
    return row && { value: row['value'] as Uint8Array, version: Number(row['version']) };
  }

  async put(path: string, value: Uint8Array, expectedVersion: number): Promise<PutResult> {
    checkPath(path);
    checkValue(path, value);
    const { changes } =
      expectedVersion === 0 ? this.#insert.run(path, value) : this.#update.run(value, path, expectedVersion);
    if (changes === 0) return { kind: 'conflict', version: Number(this.#select.get(path)?.['version'] ?? 0) };
    this.#watchers.changed(path);
    return { kind: 'done', version: expectedVersion + 1 };
  }

  async children(path: string): Promise<readonly string[]> {
    checkPath(path);
    const names = new Set<string>();
    for (const row of this.#below.all(path)) names.add(childName(String(row['path']), path) ?? '');
    return [...names].sort();
  }

  watch(path: string, listener: (changed: string) => void): () => void {
    checkPath(path);
    return this.#watchers.watch(path, listener);
  }

  close(): void {
    this.#database.close();
  }
}

function openFile(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version > schemaVersion) {
      throw new Error(`written by a newer Weir (schema ${version}, this one knows ${schemaVersion})`);
    }
    database.exec(`
      BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS entry (path TEXT PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) WITHOUT ROWID;
      PRAGMA user_version = ${schemaVersion};
      COMMIT;
    `);
    return database;
  } catch (error) {
    database?.close();
    throw new Error(`${file} can't be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
