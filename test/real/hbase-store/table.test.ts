// Making, opening and verifying a table, as operators do.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';
import { openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { initTable, StoreTableError } from '../../../store/hbase/table.ts';
import { changes, control, event, id, startMs } from '../../contract/store-fixtures.ts';
import { makeTable, type OwnTable } from './own-table.ts';

const root = join(import.meta.dirname, '../../..');
const address = `127.0.0.1:${sharedPlace.ports.hbase.regionServer}`;

async function weir(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['cli/main.ts', ...words], { cwd: root });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function owned(what: string, body: (own: OwnTable) => Promise<void>): void {
  it(what, async () => {
    const own = await makeTable(8, 4);
    try {
      await body(own);
    } finally {
      await own.dispose();
    }
  });
}

owned('a table is made once, and its regions begin at bounds of shards', async ({ hbase, table }) => {
  expect(await initTable(hbase, table, { shards: 8, regions: 4 })).toBe('exists');
  const regions = await hbase.admin.regions(table);
  expect(regions.map(({ startRow }) => startRow.toString())).toEqual(['', '0002', '0004', '0006']);
});

owned('another number of shards is refused, with both named', async ({ hbase, table }) => {
  const both = `has 8 shards, given are 9`;
  await expect(initTable(hbase, table, { shards: 9, regions: 4 })).rejects.toThrow(both);
  await expect(openHBaseStore({ hbase, table, shards: 9 })).rejects.toThrow(both);
  expect((await openHBaseStore({ hbase, table })).shards).toBe(8);
});

owned('what is no table of ours is refused', async ({ hbase, table }) => {
  await expect(openHBaseStore({ hbase, table: `${table}-absent` })).rejects.toThrow(StoreTableError);
  const foreign = `${table}-foreign`;
  await hbase.admin.createTable(foreign, { families: [{ name: 'f' }], splitKeys: [], attributes: {} });
  try {
    await expect(openHBaseStore({ hbase, table: foreign })).rejects.toThrow(StoreTableError);
    await expect(initTable(hbase, foreign, { shards: 8, regions: 4 })).rejects.toThrow('has no column family "w"');
  } finally {
    await hbase.admin.deleteTable(foreign);
  }
});

owned('weir store init says what it did', async ({ hbase, table }) => {
  const made = `${table}-cli`;
  try {
    const place = ['--hbase', address, '--table', made];
    expect(await weir('store', 'init', ...place, '--shards', '4', '--regions', '2')).toMatchObject({
      code: 0,
      stdout: `table ${made}: made, 4 shards in 2 regions\n`,
    });
    expect((await weir('store', 'init', ...place, '--shards', '4')).stdout).toContain('there already, with 4 shards');
    const other = await weir('store', 'init', ...place, '--shards', '5');
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('has 4 shards, given are 5')]);
    const many = await weir('store', 'init', ...place, '--shards', '4', '--regions', '5');
    expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('from 1 to the number of shards, 4')]);
  } finally {
    await hbase.admin.deleteTable(made);
  }
});

owned('weir store verify finds what the index lost, and mends it', async ({ hbase, table }) => {
  const store = await openHBaseStore({ hbase, table });
  for (let index = 0; index < 50; index++) {
    const run = id(`k${index}`);
    const entries = { ready: true, timerMs: startMs };
    await store.create({ run, writeId: 'w', changes: changes({ control: control(run, State.OPEN) }), entries });
    await store.post(run, event('e'));
  }
  const place = ['--hbase', address, '--table', table];
  expect(await weir('store', 'verify', ...place)).toMatchObject({
    code: 0,
    stdout: `table ${table}: 50 runs, 150 entries; 0 missing, 0 stale, 0 repaired\n`,
  });

  const lost: Buffer[] = [];
  for (let shard = 0; shard < 8; shard++) {
    for (const letter of ['q', 't', 'i']) {
      const startRow = Buffer.from(`${shard.toString(16).padStart(4, '0')}${letter}`);
      const scanner = hbase.scan(table, { startRow, stopRow: Buffer.concat([startRow, Buffer.of(255)]), limit: 1 });
      for (const { row } of await scanner.next()) lost.push(Buffer.from(row));
      await scanner.close();
    }
  }
  const stamps = new Map([
    ['q', 2],
    ['t', 2],
    ['i', 1],
  ]);
  await hbase.mutateRows(
    table,
    lost.map((row) => {
      const timestamp = stamps.get(row.toString('latin1', 4, 5)) ?? 0;
      return { row, conditions: [], mutations: [{ kind: 'delete', row, family: 'w', timestamp }] };
    }),
  );
  const found = await weir('store', 'verify', ...place);
  expect(found.code).toBe(3);
  expect(found.stdout).toContain(`${lost.length} missing, 0 stale, 0 repaired`);
  expect(found.stdout).toMatch(/^missing ready entry of mail\/intake\/k\d+$/m);
  const mended = await weir('store', 'verify', ...place, '--repair', '--json');
  expect(mended.code).toBe(0);
  expect(JSON.parse(mended.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    missing: lost.length,
    repaired: lost.length,
  });
  expect((await weir('store', 'verify', ...place)).code).toBe(0);
  await store.close();
});
