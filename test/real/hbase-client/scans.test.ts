// Scans on a real HBase: complete and in order, whatever happens to the regions meanwhile.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HBase, Region } from '../../../store/hbase/client/port.ts';
import { connectShared, everything, family, fill, group, makeTable, names, put, readAll, remove } from './table.ts';

let hbase: HBase;
let table: string;
const rowCount = 43_000;
const rowName = (index: number) => `${index % 10}row${String(index).padStart(6, '0')}`;
const sorted = Array.from({ length: rowCount }, (_, index) => rowName(index)).sort();

beforeAll(async () => {
  hbase = connectShared();
  table = await makeTable(hbase, ['3', '6'], {});
  await fill(
    hbase,
    table,
    sorted.map((row) => put(row, 'x'.repeat(100))),
  );
});
afterAll(async () => {
  await hbase.admin.deleteTable(table);
  await hbase.close();
});

describe('a scan', () => {
  it('gives every row of all regions once, in order', async () => {
    const scanner = hbase.scan(table, everything);
    expect(names(await readAll(scanner))).toEqual(sorted);
    expect(scanner.restarts).toBe(0);
  });

  it('goes from high rows to low', async () => {
    expect(names(await readAll(hbase.scan(table, { ...everything, reversed: true })))).toEqual(sorted.toReversed());
  });

  it('keeps to its range, its limit and its batches, in both directions', async () => {
    const [startRow, stopRow] = [Buffer.from(sorted[10_000]!), Buffer.from(sorted[20_000]!)];
    expect(names(await readAll(hbase.scan(table, { startRow, stopRow })))).toEqual(sorted.slice(10_000, 20_000));
    const back = hbase.scan(table, { startRow: stopRow, stopRow: startRow, reversed: true });
    expect(names(await readAll(back))).toEqual(sorted.slice(10_001, 20_001).toReversed());
    const limited = hbase.scan(table, { startRow, stopRow, limit: 250, batch: 100 });
    const batches = [await limited.next(), await limited.next(), await limited.next(), await limited.next()];
    expect(batches.map((rows) => rows.length)).toEqual([100, 100, 50, 0]);
    expect(names(batches.flat())).toEqual(sorted.slice(10_000, 10_250));
  });

  it('puts rows together that are larger than an answer', async () => {
    const big = await makeTable(hbase);
    const cells = Array.from({ length: 8 }, (_, index) => ({
      qualifier: Buffer.from(String(index)),
      value: Buffer.alloc(700_000, index),
    }));
    const puts = ['a', 'b', 'c'].map((row) => ({
      kind: 'put' as const,
      row: Buffer.from(row),
      family,
      timestamp: 1,
      cells,
    }));
    for (const one of puts) expect(await hbase.mutateRows(big, [group(one)])).toEqual([{ kind: 'done' }]);
    const rows = await readAll(hbase.scan(big, everything));
    expect(names(rows)).toEqual(['a', 'b', 'c']);
    for (const { cells: found } of rows) {
      expect(found.map(({ qualifier, value }) => [qualifier.toString(), value.length, value[0]])).toEqual(
        cells.map(({ qualifier, value }) => [qualifier.toString(), value.length, value[0]]),
      );
    }
    await hbase.admin.deleteTable(big);
  });

  it('shows a region as it was at its first batch, while rows move', async () => {
    const moving = await makeTable(hbase);
    const rows = Array.from({ length: 500 }, (_, index) => `a${String(index).padStart(4, '0')}`);
    await fill(
      hbase,
      moving,
      rows.map((row) => put(row, 'x')),
    );
    const scanner = hbase.scan(moving, { ...everything, batch: 50 });
    const seen = [...(await scanner.next())];
    await hbase.mutateRows(
      moving,
      rows.map((row) => group(put(`b${row}`, 'x', 2), remove(row, 1))),
    );
    for (let more = await scanner.next(); more.length > 0; more = await scanner.next()) seen.push(...more);
    expect(names(seen)).toEqual(rows);
    await hbase.admin.deleteTable(moving);
  });

  it('refuses a range without sense and two questions at a time', async () => {
    expect(() => hbase.scan(table, { ...everything, limit: 0 })).toThrow('"limit" of a scan is 0');
    const scanner = hbase.scan(table, everything);
    const first = scanner.next();
    await expect(scanner.next()).rejects.toThrow('before it had given the last ones');
    await first;
    await scanner.close();
    expect(await scanner.next()).toEqual([]);
  });
});

describe('a region that changes under a scan', () => {
  const regionOf = async (row: string): Promise<Region> => {
    const regions = await hbase.admin.regions(table);
    return regions.findLast(({ startRow }) => Buffer.compare(startRow, Buffer.from(row)) <= 0)!;
  };

  it('closed and opened again: the scan and writes go on', async () => {
    const scanner = hbase.scan(table, { ...everything, batch: 500 });
    const seen = [...(await scanner.next())];
    const region = await regionOf('0');
    await hbase.admin.closeRegion(region);
    const rest = (async () => {
      for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) seen.push(...rows);
    })();
    const written = hbase.mutateRows(table, [group(put(sorted[0]!, 'y', 2))]);
    await hbase.admin.openRegion(region);
    await rest;
    expect(await written).toEqual([{ kind: 'done' }]);
    expect(names(seen)).toEqual(sorted);
    expect(scanner.restarts).toBe(1);
  });

  it('split in two: the scan, reads and writes go on', async () => {
    const scanner = hbase.scan(table, { ...everything, batch: 500 });
    const seen = [...(await scanner.next())];
    await hbase.admin.splitRegion(await regionOf('0'), Buffer.from('1row'));
    for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) seen.push(...rows);
    expect(names(seen)).toEqual(sorted);
    expect(scanner.restarts).toBe(1);
    const results = await hbase.mutateRows(table, [
      group(put(sorted[1]!, 'z', 3)),
      group(put('2row', 'z', 3), remove('2row', 3)),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(['done', 'done']);
    expect(await hbase.admin.regions(table)).toHaveLength(4);
    expect(names(await readAll(hbase.scan(table, { ...everything, reversed: true })))).toEqual(sorted.toReversed());
  });

  it('is not split when the table forbids it', async () => {
    const whole = await makeTable(hbase);
    await fill(hbase, whole, [put('a', 'x'), put('b', 'x')]);
    const [region] = await hbase.admin.regions(whole);
    await expect(hbase.admin.splitRegion(region!, Buffer.from('b'))).rejects.toThrow('NOT splittable');
    await hbase.admin.deleteTable(whole);
  });

  it('flushed and compacted: nothing shows', async () => {
    const region = await regionOf('4');
    await hbase.admin.flushRegion(region);
    await hbase.admin.compactRegion(region);
    expect(names(await readAll(hbase.scan(table, everything)))).toEqual(sorted);
  });
});
