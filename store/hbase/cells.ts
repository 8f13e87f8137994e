// Words of the client in the terms of this store: one family, names and values in pairs.

import type { Column, Condition, Delete, Put, Row } from './client/port.ts';
import { column, family } from './columns.ts';

/** A cell that is to be written. */
export type NewCell = readonly [qualifier: Buffer, value: Uint8Array];

export function put(row: Buffer, timestamp: number, cells: readonly NewCell[]): Put {
  return {
    kind: 'put',
    row,
    family,
    timestamp,
    cells: cells.map(([qualifier, value]) => ({ qualifier, value: asBuffer(value) })),
  };
}

/** Hides what was put into these columns with this timestamp or an earlier one. */
export function remove(row: Buffer, timestamp: number, qualifiers: readonly Buffer[]): Delete {
  return { kind: 'delete', row, family, timestamp, qualifiers };
}

/** Changes nothing: for a call that only asks whether its conditions hold, now. */
export function changeNothing(row: Buffer): Delete {
  return remove(row, 1, [column.never]);
}

export function equals(row: Buffer, qualifier: Buffer, value: Uint8Array): Condition {
  return { row, family, qualifier, equals: asBuffer(value) };
}

export function absent(row: Buffer, qualifier: Buffer): Condition {
  return { row, family, qualifier };
}

export function columns(qualifiers: readonly Buffer[]): readonly Column[] {
  return qualifiers.map((qualifier) => ({ family, qualifier }));
}

export function valueOf(row: Row, qualifier: Buffer): Buffer | undefined {
  return row.cells.find((cell) => cell.qualifier.equals(qualifier))?.value;
}

/** A copy, which doesn't hold the answer that it came with in memory. */
export function copied(value: Uint8Array): Uint8Array {
  return new Uint8Array(value);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
