import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryAssignments } from '../../store/memory/memory-assignments.ts';
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { assignmentsContract } from './assignments.contract.ts';

let folder: string;
let files = 0;
const file = (): string => join(folder, `${++files}.db`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-assignments-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

assignmentsContract('memory', async () => ({ subject: new MemoryAssignments(), dispose: async () => {} }));

assignmentsContract('sqlite', async () => {
  const store = new SqliteStore(file());
  return { subject: store, dispose: () => store.close() };
});

describe('assignments in runs.db', () => {
  const key = Uint8Array.of(1);

  it('survive', async () => {
    const path = file();
    const store = new SqliteStore(path);
    await store.assign('b', key, 'one');
    await store.close();
    const again = new SqliteStore(path);
    expect(await again.assign('b', key, 'two')).toEqual({ kind: 'done', flow: 'one' });
    await again.close();
  });

  it('find their place in a file of schema 1', async () => {
    const path = file();
    await new SqliteStore(path).close();
    const database = new DatabaseSync(path);
    database.exec('DROP TABLE assignment; DROP INDEX run_parent; ALTER TABLE run DROP COLUMN parent');
    database.exec('PRAGMA user_version = 1');
    database.close();
    const store = new SqliteStore(path);
    expect(await store.assign('b', key, 'one')).toEqual({ kind: 'done', flow: 'one' });
    await store.close();
  });

  it('are unknown when the store is closed', async () => {
    const store = new SqliteStore(file());
    await store.close();
    expect(await store.assign('b', key, 'one')).toMatchObject({ kind: 'unknown' });
    await expect(store.assigned('b', key)).rejects.toThrow('the store is closed');
  });
});
