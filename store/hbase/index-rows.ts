// Which rows of the index a run's entries are, and what makes old ones new.
//
// Invariant I1: a write puts or deletes an index row, never both, and at its stamp; the next write of the run has a greater one. So
// a row that is deleted and put again later is seen, and a delete never hides what came after it.

import { put, remove } from './cells.ts';
import type { Mutation } from './client/port.ts';
import { column, type Entries, encodeIndexValue, type IndexValue } from './columns.ts';
import type { RunKeys } from './row-key.ts';

/** Keys of the index rows of a run with these entries; not of the inbox. */
export function indexKeys(keys: RunKeys, { ready, timerMs, leaseMs, level, order }: Entries): Buffer[] {
  const rows: Buffer[] = [];
  if (ready) rows.push(keys.ready(level, order));
  if (timerMs !== undefined) rows.push(keys.timer(timerMs));
  if (leaseMs !== undefined) rows.push(keys.lease(leaseMs));
  return rows;
}

/** Replaces the index rows of a run. `stamp` is that of the write. */
export function replaceIndexRows(
  keys: RunKeys,
  before: Entries | undefined,
  after: Entries,
  value: Omit<IndexValue, 'ready' | 'level' | 'order'>,
  stamp: number,
): { readonly mutations: Mutation[]; readonly written: readonly Buffer[] } {
  const written = indexKeys(keys, after);
  const mutations: Mutation[] = [];
  for (const old of before ? indexKeys(keys, before) : []) {
    if (!written.some((row) => row.equals(old))) mutations.push(remove(old, stamp, [column.value]));
  }
  const { ready, level, order } = after;
  const bytes = encodeIndexValue({ ...value, ready, level, order });
  for (const row of written) mutations.push(put(row, stamp, [[column.value, bytes]]));
  return { mutations, written };
}
