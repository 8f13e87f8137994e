// What the tests of the HBase client share: tables of their own, rows, and waiting for a condition.

import { setTimeout as delay } from 'node:timers/promises';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';
import { connectHBase, type HBaseOptions } from '../../../store/hbase/client/client.ts';
import type { Delete, HBase, NewTable, Put, Row, RowGroup, Scanner } from '../../../store/hbase/client/port.ts';
import { multiRowMutations, neverSplit } from '../../../store/hbase/client/table-attributes.ts';

export const family = 'f';
export const qualifier = Buffer.from('q');

export const sharedAddress = `127.0.0.1:${sharedPlace.ports.hbase.regionServer}`;

export function connectShared(options: Partial<HBaseOptions> = {}): HBase {
  return connectHBase({ addresses: [sharedAddress], ...options });
}

let tables = 0;

/** Makes a table that no other test has, with a region per split key and one before. */
export async function makeTable(
  hbase: HBase,
  splitKeys: readonly string[] = [],
  attributes: NewTable['attributes'] = neverSplit,
): Promise<string> {
  tables += 1;
  const table = `client-test-${process.pid}-${Date.now().toString(36)}-${tables}`;
  await hbase.admin.createTable(table, {
    families: [{ name: family }],
    splitKeys: splitKeys.map((key) => Buffer.from(key)),
    attributes: { ...multiRowMutations, ...attributes },
  });
  return table;
}

export function put(row: string, value: string | Buffer, timestamp = 1): Put {
  return {
    kind: 'put',
    row: Buffer.from(row),
    family,
    timestamp,
    cells: [{ qualifier, value: Buffer.from(value as string) }],
  };
}

export function remove(row: string, timestamp: number): Delete {
  return { kind: 'delete', row: Buffer.from(row), family, timestamp };
}

/** Conditional on the value of the first row; undefined: on its absence. */
export function groupIf(value: string | undefined, ...mutations: readonly [Put, ...(Put | Delete)[]]): RowGroup {
  const [{ row }] = mutations;
  const condition = { row, family, qualifier, ...(value !== undefined && { equals: Buffer.from(value) }) };
  return { row, mutations, conditions: [condition] };
}

export function group(...mutations: readonly [Put | Delete, ...(Put | Delete)[]]): RowGroup {
  return { row: mutations[0].row, mutations, conditions: [] };
}

/** Writes rows in groups of 100. All must be done. */
export async function fill(hbase: HBase, table: string, rows: readonly Put[]): Promise<void> {
  const single = rows.map((row) => group(row));
  for (let start = 0; start < single.length; start += 1_000) {
    const results = await hbase.mutateRows(table, single.slice(start, start + 1_000));
    const failed = results.find(({ kind }) => kind !== 'done');
    if (failed !== undefined) throw new Error(`a row was not written: ${JSON.stringify(failed)}`);
  }
}

export function valueOf(row: Row | undefined): string | undefined {
  return row?.cells.find((cell) => cell.qualifier.equals(qualifier))?.value.toString();
}

export function names(rows: readonly Row[]): string[] {
  return rows.map(({ row }) => row.toString());
}

export async function readAll(scanner: Scanner): Promise<Row[]> {
  const all: Row[] = [];
  try {
    for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) all.push(...rows);
  } finally {
    await scanner.close();
  }
  return all;
}

/** Polls until the condition holds; throws after `withinMs`. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const giveUpMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpMs) throw new Error(`not so within ${withinMs} ms`);
    await delay(20);
  }
}

export const everything = { startRow: Buffer.alloc(0), stopRow: Buffer.alloc(0) };
