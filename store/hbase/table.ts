// The table: how it is made, and what is checked before it is used.

import { absent, put, valueOf } from './cells.ts';
import { findConditionFault } from './client/condition-probe.ts';
import { type HBase, HBaseFailure, type TableDescription } from './client/port.ts';
import { multiRowMutations, neverSplit } from './client/table-attributes.ts';
import { family } from './columns.ts';
import { maxShards, settingsRow, shardPrefix } from './row-key.ts';

/** A table that can't be used, for a person to mend: the message names the table, what was found and what is allowed. */
export class StoreTableError extends Error {
  override readonly name = 'StoreTableError';
}

export interface TableSize {
  /** Buckets of runs, 1 to 65,536; fixed for the life of the table. */
  readonly shards: number;
  /** Regions that the table begins with, 1 to `shards`. */
  readonly regions: number;
}

/** Rises when rows change their meaning. */
const format = 1;

const settingColumn = { format: Buffer.from('format'), shards: Buffer.from('shards') } as const;

const familyAttributes = {
  VERSIONS: '1',
  COMPRESSION: 'NONE',
  BLOOMFILTER: 'ROW',
  // Keys of the cells of a run are nearly the same: their differences take a third of the place.
  DATA_BLOCK_ENCODING: 'FAST_DIFF',
  KEEP_DELETED_CELLS: 'FALSE',
} as const;

/**
 * Makes the table, or finishes what was begun; does nothing where it is. Answers whether it was made now. Throws
 * StoreTableError for a table that is another's or has another number of shards, HBaseFailure when HBase fails.
 */
export async function initTable(
  hbase: HBase,
  table: string,
  { shards, regions }: TableSize,
): Promise<'created' | 'exists'> {
  checkSize(shards, regions);
  const created = await hbase.admin.createTable(table, {
    families: [{ name: family, attributes: familyAttributes }],
    splitKeys: splitKeys(shards, regions),
    attributes: { ...multiRowMutations, ...neverSplit },
  });
  checkDescription(table, await hbase.admin.describeTable(table));
  const cells = [
    [settingColumn.format, Buffer.from(String(format))],
    [settingColumn.shards, Buffer.from(String(shards))],
  ] as const;
  const [result] = await hbase.mutateRows(table, [
    {
      row: settingsRow,
      mutations: [put(settingsRow, 1, cells)],
      conditions: [absent(settingsRow, settingColumn.shards)],
    },
  ]);
  // Whatever came of it, the row says what stands.
  const stored = await readShards(hbase, table);
  if (stored === undefined) {
    const cause = result && 'cause' in result ? result.cause : 'its settings were not stored';
    throw new HBaseFailure('unavailable', `table "${table}": ${cause}`);
  }
  if (stored !== shards) throw otherShards(table, stored, shards);
  return created === 'created' || result?.kind === 'done' ? 'created' : 'exists';
}

/**
 * Checks that the table is ours and that its servers heed conditions. Answers its number of shards. Throws StoreTableError, and
 * HBaseFailure when HBase fails.
 */
export async function openTable(hbase: HBase, table: string, expectedShards: number | undefined): Promise<number> {
  const shards = await readShards(hbase, table);
  if (shards === undefined) {
    throw new StoreTableError(`table "${table}" of HBase isn't a store of Weir: make one with \`weir store init\``);
  }
  if (expectedShards !== undefined && expectedShards !== shards) throw otherShards(table, shards, expectedShards);
  const fault = await findConditionFault(hbase, table, family);
  if (fault !== undefined) throw new StoreTableError(fault);
  return shards;
}

async function readShards(hbase: HBase, table: string): Promise<number | undefined> {
  let row: Awaited<ReturnType<HBase['get']>>;
  try {
    row = await hbase.get(table, settingsRow);
  } catch (error) {
    // No such table, or one without our family.
    if (error instanceof HBaseFailure && error.kind === 'refused') return undefined;
    throw error;
  }
  if (!row) return undefined;
  const found = Number(valueOf(row, settingColumn.format)?.toString());
  if (found !== format) {
    throw new StoreTableError(
      `table "${table}" of HBase has rows of format ${found}, this Weir knows ${format}: use that version or another table`,
    );
  }
  return Number(valueOf(row, settingColumn.shards)?.toString());
}

/** The first rows of all regions but the first: each at the beginning of a shard. */
export function splitKeys(shards: number, regions: number): Buffer[] {
  return Array.from({ length: regions - 1 }, (_, index) => shardPrefix(Math.round(((index + 1) * shards) / regions)));
}

function checkSize(shards: number, regions: number): void {
  if (!Number.isInteger(shards) || shards < 1 || shards > maxShards) {
    throw new StoreTableError(`shards: found ${shards}, allowed is a whole number from 1 to ${maxShards}`);
  }
  if (!Number.isInteger(regions) || regions < 1 || regions > shards) {
    throw new StoreTableError(
      `regions: found ${regions}, allowed is a whole number from 1 to the number of shards, ${shards}`,
    );
  }
}

function checkDescription(table: string, description: TableDescription | undefined): void {
  if (!description) throw new HBaseFailure('unavailable', `table "${table}" was made and isn't there`);
  const wrong = (what: string) =>
    new StoreTableError(`table "${table}" of HBase is another's, or was altered: ${what}`);
  if (!description.families.some(({ name }) => name === family)) throw wrong(`it has no column family "${family}"`);
  const needed = { ...multiRowMutations, ...neverSplit };
  for (const [name, value] of Object.entries(needed)) {
    const found = description.attributes[name];
    if (found !== value) throw wrong(`its attribute ${name} is ${found ?? 'absent'}, needed is ${value}`);
  }
}

function otherShards(table: string, stored: number, given: number): StoreTableError {
  return new StoreTableError(
    `table "${table}" of HBase has ${stored} shards, given are ${given}: the number stays for the life of a table; give ${stored}, or name another table`,
  );
}
