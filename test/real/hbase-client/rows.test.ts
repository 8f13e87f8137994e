// Rows on a real HBase: what is written is read, conditions and time stamps decide as the store needs them to.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findConditionFault } from '../../../store/hbase/client/condition-probe.ts';
import { allOf, columnEquals, columnPrefix, firstKeyOnly, keyOnly } from '../../../store/hbase/client/filters.ts';
import type { HBase } from '../../../store/hbase/client/port.ts';
import { connectShared, family, fill, group, groupIf, makeTable, put, qualifier, remove, valueOf } from './table.ts';

let hbase: HBase;
let table: string;

beforeAll(async () => {
  hbase = connectShared();
  table = await makeTable(hbase, ['4', '8']);
});
afterAll(async () => {
  await hbase.admin.deleteTable(table);
  await hbase.close();
});

const kinds = async (groups: Parameters<HBase['mutateRows']>[1]) =>
  (await hbase.mutateRows(table, groups)).map(({ kind }) => kind);
const read = async (row: string) => valueOf(await hbase.get(table, Buffer.from(row)));

describe('rows', () => {
  it('are written, read, hidden by a delete', async () => {
    expect(await kinds([group(put('1a', 'x', 5))])).toEqual(['done']);
    const row = await hbase.get(table, Buffer.from('1a'));
    expect(row?.cells).toEqual([{ family: Buffer.from(family), qualifier, timestamp: 5, value: Buffer.from('x') }]);
    expect(await kinds([group(remove('1a', 5))])).toEqual(['done']);
    expect(await hbase.get(table, Buffer.from('1a'))).toBeUndefined();
  });

  it('are read many at a time from all regions, in the order asked for', async () => {
    const rows = Array.from({ length: 999 }, (_, index) => `${index % 10}many${index}`);
    await fill(
      hbase,
      table,
      rows.map((row) => put(row, `of ${row}`)),
    );
    const asked = rows.toReversed().flatMap((row) => [row, `${row}absent`]);
    const found = await hbase.getMany(
      table,
      asked.map((row) => Buffer.from(row)),
    );
    expect(found.map(valueOf)).toEqual(rows.toReversed().flatMap((row) => [`of ${row}`, undefined]));
  });

  it('are read in part: columns, filters', async () => {
    const row = Buffer.from('2columns');
    const cells = ['a1', 'a2', 'b1'].map((name) => ({
      qualifier: Buffer.from(name),
      value: Buffer.from(`is ${name}`),
    }));
    await hbase.mutateRows(table, [group({ kind: 'put', row, family, timestamp: 1, cells })]);
    const seen = async (options: Parameters<HBase['get']>[2]) =>
      (await hbase.get(table, row, options))?.cells.map(
        (cell) => `${cell.qualifier.toString()}=${cell.value.toString()}`,
      );
    expect(await seen({})).toEqual(['a1=is a1', 'a2=is a2', 'b1=is b1']);
    expect(await seen({ columns: [{ family, qualifier: Buffer.from('b1') }] })).toEqual(['b1=is b1']);
    expect(await seen({ filter: columnPrefix(Buffer.from('a')) })).toEqual(['a1=is a1', 'a2=is a2']);
    expect(await seen({ filter: allOf([columnPrefix(Buffer.from('a')), keyOnly()]) })).toEqual(['a1=', 'a2=']);
    expect(await seen({ filter: firstKeyOnly() })).toEqual(['a1=is a1']);
    expect(await seen({ filter: columnEquals(family, Buffer.from('b1'), Buffer.from('is b1')) })).toHaveLength(3);
    expect(await seen({ filter: columnEquals(family, Buffer.from('b1'), Buffer.from('other')) })).toBeUndefined();
  });
});

describe('groups', () => {
  it('over several rows are all or nothing, each for itself, in several regions', async () => {
    const groups = ['1', '5', '9'].map((shard) =>
      groupIf(undefined, put(`${shard}run`, 'v1'), put(`${shard}index`, 'v1')),
    );
    expect(await kinds(groups)).toEqual(['done', 'done', 'done']);
    const next = [
      groupIf('v1', put('1run', 'v2', 2), remove('1index', 1), put('1later', 'v2', 2)),
      groupIf('v7', put('5run', 'v2', 2), remove('5index', 1), put('5later', 'v2', 2)),
      groupIf(undefined, put('9run', 'v2', 2), remove('9index', 1)),
      groupIf(undefined, put('9other', 'v1')),
    ];
    expect(await kinds(next)).toEqual(['done', 'conditionFailed', 'conditionFailed', 'done']);
    expect(await Promise.all(['1run', '1index', '1later'].map(read))).toEqual(['v2', undefined, 'v2']);
    expect(await Promise.all(['5run', '5index', '5later'].map(read))).toEqual(['v1', 'v1', undefined]);
    expect(await Promise.all(['9run', '9index', '9other'].map(read))).toEqual(['v1', 'v1', 'v1']);
  });

  it('of many racing writers lose no update', async () => {
    const rows = Array.from({ length: 4 }, (_, index) => `${index * 2}counter`);
    await fill(
      hbase,
      table,
      rows.map((row) => put(row, '0', 1)),
    );
    let accepted = 0;
    const increment = async (row: string) => {
      const value = Number(await read(row));
      const [result] = await hbase.mutateRows(table, [groupIf(String(value), put(row, String(value + 1), value + 2))]);
      if (result?.kind === 'done') accepted += 1;
      else expect(result?.kind).toBe('conditionFailed');
    };
    const writer = async (index: number) => {
      for (let round = 0; round < 40; round += 1) await increment(rows[(index + round) % rows.length]!);
    };
    await Promise.all(Array.from({ length: 16 }, (_, index) => writer(index)));
    const values = await Promise.all(rows.map(read));
    expect(values.reduce((sum, value) => sum + Number(value), 0)).toBe(accepted);
    expect(accepted).toBeGreaterThan(0);
  });

  it('that a schema or their own rows forbid are refused, the others of the call are done', async () => {
    const results = await hbase.mutateRows(table, [
      group({ ...put('1refused', 'x'), family: 'none' }),
      group(put('1refused', 'x'), put('9refused', 'x')),
      group(put('1fine', 'x')),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'refused', 'done']);
    expect(results[0]).toMatchObject({ cause: expect.stringContaining('Column family none does not exist') });
    expect(results[1]).toMatchObject({ cause: expect.stringContaining('more than one region') });
    expect(await read('1refused')).toBeUndefined();
  });

  it('of a table that is not there are refused', async () => {
    const [result] = await hbase.mutateRows('no-such-table', [group(put('1', 'x'))]);
    expect(result).toEqual({ kind: 'refused', cause: 'HBase has no table "no-such-table"' });
  });

  it('heed conditions, as the probe at start asks', async () => {
    expect(await findConditionFault(hbase, table, family)).toBeUndefined();
    expect(await findConditionFault(hbase, table, 'none')).toContain('"refused"');
  });
});

describe('time stamps', () => {
  it('make a row that is deleted and put again in one call visible, when they are the versions', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => `3again${index}`);
    await fill(
      hbase,
      table,
      rows.map((row) => put(row, 'old', 1)),
    );
    const results = await kinds(rows.map((row) => groupIf('old', put(row, 'new', 2), remove(row, 1))));
    expect(new Set(results)).toEqual(new Set(['done']));
    const found = await hbase.getMany(
      table,
      rows.map((row) => Buffer.from(row)),
    );
    expect(new Set(found.map(valueOf))).toEqual(new Set(['new']));
  });

  it('let a late delete of an older version pass a newer put by', async () => {
    await kinds([group(put('3late', 'new', 5))]);
    await kinds([group(remove('3late', 4))]);
    expect(await read('3late')).toBe('new');
  });

  it('hide a put below a delete or a newer put', async () => {
    await kinds([group(put('3hidden', 'new', 5))]);
    await kinds([group(put('3hidden', 'old', 4))]);
    expect(await read('3hidden')).toBe('new');
    await kinds([group(remove('3hidden', 9))]);
    await kinds([group(put('3hidden', 'late', 8))]);
    expect(await read('3hidden')).toBeUndefined();
  });
});

describe('tables', () => {
  it('are made once, described, deleted once', async () => {
    const name = await makeTable(hbase, ['m']);
    const description = { families: [{ name: family }], splitKeys: [], attributes: {} };
    expect(await hbase.admin.createTable(name, description)).toBe('exists');
    const found = await hbase.admin.describeTable(name);
    expect(found?.families.map(({ name }) => name)).toEqual([family]);
    expect(found?.attributes).toMatchObject({ coprocessor$1: expect.stringContaining('MultiRowMutationEndpoint') });
    const regions = await hbase.admin.regions(name);
    expect(regions.map(({ startRow, endRow }) => [startRow.toString(), endRow.toString()])).toEqual([
      ['', 'm'],
      ['m', ''],
    ]);
    expect(await hbase.admin.deleteTable(name)).toBe('deleted');
    expect(await hbase.admin.deleteTable(name)).toBe('absent');
    expect(await hbase.admin.describeTable(name)).toBeUndefined();
    expect(await hbase.admin.regions(name)).toEqual([]);
  });
});
