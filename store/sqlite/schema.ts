// The tables of runs.db, and how the file is opened.
//
// A run's number (`run.id`) is its rowid: short, in order of creation, never used again. Cells, inbox and executions hang on
// it, so that the rows of one run, and of runs created together, lie together.
//
// What a commit that keeps its run writes is `epoch, version, write_id, barren_claims` and no other column of `run`: SQLite
// then touches none of the indexes. All indexes but the first two are partial: what sleeps isn't among what is ready, and what
// has ended is in none of them.

import { DatabaseSync } from 'node:sqlite';
import { DataFolderError } from './data-folder-error.ts';
import { causeOf, primaryCode, sqliteCode } from './sqlite-error.ts';

/** Rises with each change of the tables. */
const schemaVersion = 3;

/** "Weir" in ASCII: says whose file it is. */
const applicationId = 0x57656972;

const schema = `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    version INTEGER NOT NULL,
    write_id TEXT NOT NULL,
    barren_claims INTEGER NOT NULL,
    holder BLOB,
    ready INTEGER NOT NULL,
    timer_ms INTEGER,
    lease_ms INTEGER,
    -- Arrival of the oldest event that waits.
    inbox_ms INTEGER,
    control BLOB NOT NULL,
    -- Copies of what control says, for indexes and filters.
    level INTEGER NOT NULL,
    place INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    input_bytes INTEGER NOT NULL,
    state INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    identity BLOB NOT NULL
  );
  CREATE UNIQUE INDEX run_identity ON run (identity, generation);
  CREATE INDEX run_state ON run (state, id, reason);
  CREATE INDEX run_ready ON run (shard, level, place) WHERE ready = 1;
  CREATE INDEX run_timer ON run (shard, timer_ms) WHERE timer_ms IS NOT NULL;
  CREATE INDEX run_lease ON run (shard, lease_ms) WHERE lease_ms IS NOT NULL;
  CREATE INDEX run_inbox ON run (shard, inbox_ms) WHERE inbox_ms IS NOT NULL;

  -- kind: 1 a step, 2 a field.
  CREATE TABLE cell (
    run INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (run, kind, name)
  ) WITHOUT ROWID;

  -- An event that was consumed keeps its row, without the event: its id is never used twice.
  CREATE TABLE inbox (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, event_id TEXT NOT NULL, arrived_ms INTEGER NOT NULL, event BLOB
  );
  CREATE UNIQUE INDEX inbox_event ON inbox (run, event_id);
  CREATE INDEX inbox_waiting ON inbox (run) WHERE event IS NOT NULL;

  -- One row per write that records any, by the version it made.
  CREATE TABLE execution (
    run INTEGER NOT NULL, version INTEGER NOT NULL, batch BLOB NOT NULL,
    PRIMARY KEY (run, version)
  ) WITHOUT ROWID;

  CREATE TABLE alarm (
    key TEXT PRIMARY KEY, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, count INTEGER NOT NULL, alarm BLOB NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX alarm_last ON alarm (last_ms);
`;

/** Since version 2. Which flow an item was given that named none; `item` is business/key. */
const assignmentSchema = `
  CREATE TABLE assignment (item BLOB PRIMARY KEY, flow TEXT NOT NULL) WITHOUT ROWID;
`;

/** Since version 3. The number of the run whose step started this one. */
const parentSchema = `
  ALTER TABLE run ADD COLUMN parent INTEGER;
  CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
`;

/** What each version added, by the version before it. */
const additions: ReadonlyMap<number, string> = new Map([
  [1, assignmentSchema],
  [2, parentSchema],
]);

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  readonly shards: number;
}

/** Opens or creates the file. `shards` counts only when it is created. Throws DataFolderError. */
export function openDatabase(file: string, shards: number): OpenedDatabase {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    configure(database);
    migrate(database, file, shards);
    return { database, shards: storedShards(database) };
  } catch (error) {
    database?.close();
    throw error instanceof DataFolderError ? error : describe(file, error);
  }
}

function configure(database: DatabaseSync): void {
  database.exec(`
    -- How long to wait for a program that looks at the file from outside, with the event loop standing still.
    PRAGMA busy_timeout = 1000;
    PRAGMA journal_mode = WAL;
    -- Every COMMIT is an fsync: what was answered survives the death of the machine too.
    PRAGMA synchronous = FULL;
    -- Checkpoints are ours, see group-commit.ts.
    PRAGMA wal_autocheckpoint = 0;
    -- 64 MiB: the pages of some 100,000 live runs.
    PRAGMA cache_size = -65536;
    PRAGMA temp_store = MEMORY;
  `);
}

function migrate(database: DatabaseSync, file: string, shards: number): void {
  const version = pragma(database, 'user_version');
  const owner = pragma(database, 'application_id');
  if (version === schemaVersion && owner === applicationId) return;
  if (owner === applicationId && version > schemaVersion) {
    throw new DataFolderError(
      'newer',
      `${file} was written by a newer Weir (schema ${version}, this one knows ${schemaVersion}): use that version or another folder`,
    );
  }
  if (owner === applicationId && version >= 1) {
    const added = [...additions].filter(([before]) => before >= version).map(([, sql]) => sql);
    database.exec(`BEGIN IMMEDIATE; ${added.join('')} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
    return;
  }
  const tables = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get();
  if (owner !== 0 || version !== 0 || tables?.['tables'] !== 0) {
    throw new DataFolderError('foreign', `${file} is a database of another program: name another folder`);
  }
  // One transaction: a file that was being created when the power failed is empty again.
  database.exec(`
    BEGIN IMMEDIATE;
    ${schema}
    ${[...additions.values()].join('')}
    INSERT INTO setting VALUES ('shards', ${shards});
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${schemaVersion};
    COMMIT;
  `);
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function storedShards(database: DatabaseSync): number {
  return Number(database.prepare(`SELECT value FROM setting WHERE name = 'shards'`).get()?.['value']);
}

function describe(file: string, error: unknown): unknown {
  switch (primaryCode(error)) {
    case undefined:
      return error;
    case sqliteCode.busy:
      return new DataFolderError('in-use', `${file} is in use by another program`, error);
    case sqliteCode.notADatabase:
      return new DataFolderError('foreign', `${file} is not a database: name another folder`, error);
    default:
      return new DataFolderError('not-writable', `${file} can't be opened: ${causeOf(error)}`, error);
  }
}
