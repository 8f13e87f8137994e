// What holds for the SQLite store only: what survives, who is refused, how writes are grouped.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../flow/run-id.ts';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { openDataFolder } from '../../store/sqlite/data-folder.ts';
import { DataFolderError } from '../../store/sqlite/data-folder-error.ts';
import { readyScan, timedScan } from '../../store/sqlite/index-scanner.ts';
import { SqliteStore, StoreStoppedError } from '../../store/sqlite/sqlite-store.ts';
import { alarm, changes, control, event, execution, field, holder, id, startMs, step } from './store-fixtures.ts';

let folder: string;
const children: Child[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-store-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  rmSync(folder, { recursive: true });
});

type Child = ChildProcessByStdio<Writable, Readable, null>;

function startChild(prefix: string): Child {
  const script = fileURLToPath(new URL('store-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, folder, prefix], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function kill(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Kills the child once it has said `count` lines; answers all that it said. */
async function linesUntilKilled(child: Child, count: number): Promise<string[]> {
  const lines: string[] = [];
  const gone = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    if (lines.push(line) === count) child.kill('SIGKILL');
  }
  await gone;
  return lines;
}

function refusal(open: () => unknown): DataFolderError {
  try {
    open();
  } catch (error) {
    expect(error).toBeInstanceOf(DataFolderError);
    return error as DataFolderError;
  }
  throw new Error('it was not refused');
}

const file = () => join(folder, 'runs.db');
const entries = { ready: false, leaseMs: startMs };

describe('what was answered is there', () => {
  it('after closing and opening', async () => {
    const run = id('a');
    const first = new SqliteStore(file(), { shards: 8 });
    const body = changes({ control: control(run), fields: { 'input/body': field('x') }, steps: { parse: step() } });
    await first.create({ run, writeId: 'w0', changes: body, holder, entries });
    await first.post(run, event('e1'));
    const more = changes({ executions: [execution('parse')], alarms: [alarm('a')] });
    await first.commit({ run, writeId: 'w1', expected: { epoch: 1, version: 1 }, changes: more });
    const before = await first.load(run);
    const late = first.commit({ run, writeId: 'w2', expected: { epoch: 1, version: 2 }, changes: changes() });
    await first.close();
    expect(await late, 'close answers what waits').toEqual({ kind: 'done' });

    const second = new SqliteStore(file(), { shards: 4 });
    expect(second.shards, 'the number of shards stays').toBe(8);
    expect(await second.load(run)).toEqual({ ...before, writeId: 'w2', fence: { epoch: 1, version: 3 } });
    expect(await second.executions(run)).toHaveLength(1);
    expect((await second.alarms(10)).alarms).toHaveLength(1);
    for (const kind of ['lease', 'inbox'] as const) {
      expect((await second.scan({ shard: shardOf(run, 8), kind, limit: 10 })).hits).toHaveLength(1);
    }
    await second.close();
  });

  it('after SIGKILL, again and again', async () => {
    const acknowledged: string[] = [];
    for (const [life, count] of [150, 400, 3, 700, 1_100].entries()) {
      const lines = await linesUntilKilled(startChild(`life${life}`), count);
      expect(lines[0]).toBe('open');
      acknowledged.push(...lines.slice(1));

      // A line cut short by the kill would name a run that doesn't exist: only whole lines are judged.
      const data = openDataFolder(folder);
      const store = new SqliteStore(data.file('runs.db'));
      for (const line of acknowledged) {
        const [what, key = '', version] = line.split(' ');
        const stored = await store.load(id(key));
        expect(stored, line).toBeDefined();
        if (what === 'posted') expect(stored?.inbox.map(({ id }) => id)).toEqual(['e']);
        if (what === 'committed') expect(stored?.fence.version, line).toBeGreaterThanOrEqual(Number(version));
        // Whole or not at all: as many outputs and executions as the version says.
        const commits = (stored?.fence.version ?? 0) - 1;
        expect(stored?.run.fields.size, line).toBe(1 + commits);
        expect(await store.executions(id(key))).toHaveLength(commits);
        expect(stored?.writeId).toBe(`${key}-${commits}`);
      }
      await store.close();
      data.close();
    }
    expect(acknowledged.length).toBeGreaterThan(2_000);
    const database = new DatabaseSync(file());
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    database.close();
  }, 60_000);
});

describe('writes are grouped', () => {
  it('all of one turn in one transaction', async () => {
    const store = new SqliteStore(file());
    const runs = Array.from({ length: 100 }, (_, index) => id(`k${index}`));
    const create = (run: (typeof runs)[number]) =>
      store.create({ run, writeId: 'w', changes: changes({ control: control(run) }), holder, entries });
    await Promise.all([...runs.map(create), store.post(id('k7'), event('e')), store.raise(alarm('a'))]);
    expect(store.statistics).toEqual({ transactions: 1, writes: 102 });
    await create(id('alone'));
    expect(store.statistics).toEqual({ transactions: 2, writes: 103 });
    await store.close();
  });

  it('no more than allowed at a time', async () => {
    const store = new SqliteStore(file(), { maxGroupWrites: 40 });
    const runs = Array.from({ length: 100 }, (_, index) => id(`k${index}`));
    await Promise.all(
      runs.map((run) => store.create({ run, writeId: 'w', changes: changes({ control: control(run) }), entries })),
    );
    expect(store.statistics).toEqual({ transactions: 3, writes: 100 });
    await store.close();
  });
});

it('children are found by an index', async () => {
  await new SqliteStore(file()).close();
  const database = new DatabaseSync(file());
  const sql = 'SELECT id FROM run WHERE id > ? AND parent = ? ORDER BY id LIMIT ?';
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  expect(plan.map(({ detail }) => String(detail)).join()).toContain('INDEX run_parent (parent=? AND rowid>?)');
  database.close();
});

it('scans are answered by their index, in its order', async () => {
  await new SqliteStore(file()).close();
  const database = new DatabaseSync(file());
  for (const [sql, index] of [
    [readyScan, 'run_ready'],
    [timedScan('timer_ms'), 'run_timer'],
    [timedScan('lease_ms'), 'run_lease'],
    [timedScan('inbox_ms'), 'run_inbox'],
  ] as const) {
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
    expect(plan).toHaveLength(1);
    expect(plan[0]).toContain(`SEARCH run USING INDEX ${index} (shard=? AND`);
  }
  database.close();
});

describe('after close', () => {
  it('writes are unknown and reads throw', async () => {
    const store = new SqliteStore(file());
    await store.close();
    await store.close();
    const run = id('a');
    const write = { run, writeId: 'w', changes: changes({ control: control(run, State.OPEN) }), entries };
    expect(await store.create(write)).toEqual({ kind: 'unknown', cause: 'the store is closed' });
    await expect(store.load(run)).rejects.toThrow(StoreStoppedError);
  });
});

describe('the data folder', () => {
  it('is created, and lent again once it is closed', () => {
    const path = join(folder, 'new', 'below');
    const first = openDataFolder(path);
    expect(first.file('runs.db')).toBe(join(path, 'runs.db'));
    const error = refusal(() => openDataFolder(path));
    expect(error.problem).toBe('in-use');
    first.close();
    openDataFolder(path).close();
    expect(existsSync(join(path, 'owner'))).toBe(false);
  });

  it('is refused to a second process, which is told who has it', async () => {
    const child = startChild('');
    await once(createInterface({ input: child.stdout }), 'line');
    const error = refusal(() => openDataFolder(folder));
    expect(error.problem).toBe('in-use');
    expect(error.message).toBe(`The data folder ${folder} is in use by another process (pid ${child.pid})`);
    await kill(child);
    openDataFolder(folder).close();
  });

  it('that is a file is refused, or lies below one', () => {
    writeFileSync(join(folder, 'file'), '');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'below')]) {
      const error = refusal(() => openDataFolder(path));
      expect(error.problem).toBe('not-a-folder');
      expect(error.message).toContain(path);
    }
  });

  it('that cannot be written is refused', () => {
    mkdirSync(join(folder, 'lock.db'));
    const error = refusal(() => openDataFolder(folder));
    expect(error.problem).toBe('not-writable');
    expect(error.message).toContain(`The data folder ${folder} can't be written`);
  });

  it('of a newer Weir is refused', () => {
    openDataFolder(folder).close();
    pragma(join(folder, 'lock.db'), 'user_version = 99');
    const error = refusal(() => openDataFolder(folder));
    expect(error.problem).toBe('newer');
    expect(error.message).toContain('format 99');
  });

  it('whose lock is something else is refused', () => {
    writeFileSync(join(folder, 'lock.db'), 'not a database, and long enough to look at: '.repeat(100));
    expect(refusal(() => openDataFolder(folder)).problem).toBe('foreign');
  });
});

describe('runs.db', () => {
  it('of a newer Weir is refused', async () => {
    await new SqliteStore(file()).close();
    pragma(file(), 'user_version = 99');
    const error = refusal(() => new SqliteStore(file()));
    expect(error.problem).toBe('newer');
    expect(error.message).toContain('schema 99');
  });

  it('of an older Weir is brought up to date, and keeps its runs', async () => {
    const parent = id('parent');
    const first = new SqliteStore(file());
    const body = changes({ control: control(parent), steps: { parse: step() } });
    await first.create({ run: parent, writeId: 'w', changes: body, holder, entries });
    const before = await first.load(parent);
    await first.close();
    const database = new DatabaseSync(file());
    database.exec('DROP INDEX run_parent; ALTER TABLE run DROP COLUMN parent; PRAGMA user_version = 2');
    database.close();

    const store = new SqliteStore(file());
    expect(await store.load(parent)).toEqual(before);
    const child = id('child');
    const started = { run: parent, step: 'parse', round: 1, waits: true, receive: [], chain: 1 };
    const made = changes({ control: control(child, State.OPEN, { parent: started }) });
    await store.create({ run: child, writeId: 'w', changes: made, entries });
    const { runs } = await store.list({ states: [], parent }, 10);
    expect(runs.map(({ run }) => run.id)).toEqual([child]);
    await store.close();
  });

  it('of another program is refused', () => {
    pragma(file(), 'user_version = 3');
    expect(refusal(() => new SqliteStore(file())).problem).toBe('foreign');
    writeFileSync(join(folder, 'text'), 'not a database, and long enough to look at: '.repeat(100));
    expect(refusal(() => new SqliteStore(join(folder, 'text'))).problem).toBe('foreign');
    expect(refusal(() => new SqliteStore(folder)).problem).toBe('not-writable');
  });
});

function pragma(path: string, setting: string): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA ${setting}`);
  database.close();
}
