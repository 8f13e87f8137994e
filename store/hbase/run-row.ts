// A run's row: from changes to cells, and back.

import type { Changes } from '../../flow/change.ts';
import type { FieldValue, Run, RunId, StepState } from '../../flow/run.ts';
import { decodeControl, decodeField, decodeHolder, decodeStep, encodeField } from '../codec.ts';
import { type EncodedChanges, type EncodedControl, encodeChanges } from '../encoded-write.ts';
import type { RunHead, StoredRun } from '../port.ts';
import { copied, type NewCell, put, remove, valueOf } from './cells.ts';
import type { Mutation, Row } from './client/port.ts';
import { column, decodeEntries, decodeFence, decodeWrite, referencePrefix, stepPrefix } from './columns.ts';

/** Changes as this store keeps them: detached from the caller and known to be storable. */
export interface RowChanges extends Omit<EncodedChanges, 'steps' | 'fields'> {
  readonly cells: readonly NewCell[];
  readonly removed: readonly Buffer[];
}

/** Bytes of one cell, at most: a region server refuses 10 MB. What comes from outside is held to less where it enters. */
const maxCellBytes = 9 * 1024 * 1024;

/** `epoch` is the one under which the write is accepted. Throws a RangeError for what can't be stored. */
export function rowChanges(changes: Changes, epoch: number): RowChanges {
  const { fields: _fields, steps, ...encoded } = encodeChanges({ ...changes, fields: new Map() }, epoch);
  const cells: NewCell[] = [];
  const removed: Buffer[] = [];
  let { bytes } = encoded;
  for (const [name, cell] of steps) {
    const qualifier = Buffer.from(stepPrefix + name);
    if (cell) cells.push([qualifier, cell]);
    else removed.push(qualifier);
  }
  for (const [key, field] of changes.fields) {
    const plain = Buffer.from(key);
    const reference = Buffer.from(referencePrefix + key);
    if (field === null) removed.push(plain, reference);
    else if (field.reference) cells.push([reference, encodeField(field)]);
    else cells.push([plain, copied(field.bytes)]);
    // Of the two forms the newer one counts; the plain one is removed all the same, since others read it.
    if (field?.reference) removed.push(plain);
    bytes += field?.bytes.length ?? 0;
  }
  const { control } = encoded;
  if (control) cells.push(...controlCells(control));
  for (const [qualifier, value] of cells) {
    if (value.length <= maxCellBytes) continue;
    throw new RangeError(`${qualifier.toString()} has ${value.length} bytes; a cell has at most ${maxCellBytes}`);
  }
  return { ...encoded, cells, removed, bytes };
}

/** Control data, and what is looked up in it without decoding it. */
export function controlCells({ bytes, state, reason }: EncodedControl): readonly NewCell[] {
  return [
    [column.control, bytes],
    [column.state, Buffer.of(state)],
    [column.reason, Buffer.of(reason)],
  ];
}

/** The run row's part of a write: its changed cells and `head`, the columns that say who holds it at which fence. */
export function rowMutations(row: Buffer, stamp: number, head: readonly NewCell[], changes: RowChanges): Mutation[] {
  const mutations: Mutation[] = [put(row, stamp, [...head, ...changes.cells])];
  if (changes.removed.length > 0) mutations.push(remove(row, stamp, changes.removed));
  return mutations;
}

/** The columns that a head is read from. */
export const headColumns = [column.fence, column.write, column.holder, column.control] as const;

/** Undefined when there is no such run. */
export function readHead(row: Row | undefined): RunHead | undefined {
  const fence = row && valueOf(row, column.fence);
  if (!fence) return undefined;
  const holder = valueOf(row, column.holder);
  return {
    fence: decodeFence(fence),
    writeId: decodeWrite(required(row, column.write)).writeId,
    control: decodeControl(copied(required(row, column.control))),
    ...(holder && holder.length > 0 && { holder: decodeHolder(holder) }),
  };
}

/** A whole row. Undefined when there is no such run. */
export function readRun(id: RunId, row: Row | undefined): Omit<StoredRun, 'inbox'> | undefined {
  const head = readHead(row);
  if (!row || !head) return undefined;
  const { control, ...rest } = head;
  const { level: _level, order: _order, ...entries } = decodeEntries(required(row, column.entries));
  const { barrenClaims } = decodeWrite(required(row, column.write));
  return { ...rest, run: { id, control, ...cellsOf(row) }, entries, barrenClaims };
}

/** Qualifiers come in their order, so references before plain fields. */
function cellsOf(row: Row): Pick<Run, 'steps' | 'fields'> {
  const steps = new Map<string, StepState>();
  const fields = new Map<string, FieldValue>();
  const references = new Map<string, number>();
  for (const { qualifier, value, timestamp } of row.cells) {
    const name = qualifier.toString();
    if (name.startsWith(stepPrefix)) {
      steps.set(name.slice(stepPrefix.length), decodeStep(copied(value)));
    } else if (name.startsWith(referencePrefix)) {
      const key = name.slice(referencePrefix.length);
      fields.set(key, decodeField(copied(value)));
      references.set(key, timestamp);
    } else if (!name.startsWith('.') && timestamp > (references.get(name) ?? 0)) {
      fields.set(name, { bytes: copied(value) });
    }
  }
  return { steps, fields };
}

function required(row: Row, qualifier: Buffer): Buffer {
  const value = valueOf(row, qualifier);
  if (!value) throw new Error(`a stored run has no ${qualifier.toString()}: ${row.row.toString('latin1')}`);
  return value;
}
