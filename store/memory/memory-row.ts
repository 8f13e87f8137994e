// A run in the memory store: the same cells a durable store has, as bytes, so that nothing is shared with a caller.

import type { FieldValue, IndexEntries, RunId, StepState } from '../../flow/run.ts';
import { runParts } from '../../flow/run-id.ts';
import type { InboxEvent } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeControl, decodeEvent, decodeField, decodeHolder, decodeStep } from '../codec.ts';
import type { EncodedChanges, EncodedControl } from '../encoded-write.ts';
import type { EntryKey } from '../paging.ts';
import type { Fence, IndexHit, IndexKind, RunHead, RunQuery, StoredRun } from '../port.ts';

export interface MemoryRow {
  readonly id: RunId;
  /** In order of creation, from 1. */
  readonly number: number;
  readonly shard: number;
  epoch: number;
  version: number;
  writeId: string;
  barrenClaims: number;
  control: EncodedControl;
  holder: Uint8Array | undefined;
  entries: IndexEntries;
  readonly steps: Map<string, Uint8Array>;
  readonly fields: Map<string, Uint8Array>;
  readonly executions: Uint8Array[];
  /** By event id, in order of arrival. An event that was consumed keeps its id and has no bytes. */
  readonly inbox: Map<string, { readonly arrivedMs: number; bytes: Uint8Array | undefined }>;
}

export function hasFence(row: MemoryRow, fence: Fence): boolean {
  return row.epoch === fence.epoch && row.version === fence.version;
}

/** Applies what a write carries besides fence, holder, entries and alarms. */
export function change(row: MemoryRow, changes: EncodedChanges): void {
  if (changes.control) row.control = changes.control;
  setCells(row.steps, changes.steps);
  setCells(row.fields, changes.fields);
  if (changes.executions) row.executions.push(changes.executions);
  for (const id of changes.consumed) {
    const event = row.inbox.get(id);
    if (event) event.bytes = undefined;
  }
}

function setCells(cells: Map<string, Uint8Array>, changed: EncodedChanges['steps']): void {
  for (const [name, cell] of changed) {
    if (cell) cells.set(name, cell);
    else cells.delete(name);
  }
}

export function head(row: MemoryRow): RunHead {
  const { epoch, version, writeId, holder } = row;
  return {
    fence: { epoch, version },
    writeId,
    control: decodeControl(row.control.bytes.slice()),
    ...(holder ? { holder: decodeHolder(holder) } : {}),
  };
}

export function stored(row: MemoryRow): Omit<StoredRun, 'inbox'> {
  const steps = new Map<string, StepState>();
  for (const [name, cell] of row.steps) steps.set(name, decodeStep(cell));
  const fields = new Map<string, FieldValue>();
  for (const [name, cell] of row.fields) fields.set(name, decodeField(cell.slice()));
  const { control, ...rest } = head(row);
  const { id, entries, barrenClaims } = row;
  return { ...rest, run: { id, control, steps, fields }, entries: { ...entries }, barrenClaims };
}

export function pendingEvents(row: MemoryRow): InboxEvent[] {
  const events: InboxEvent[] = [];
  for (const { bytes } of row.inbox.values()) if (bytes) events.push(decodeEvent(bytes));
  return events;
}

/** The row's key in an index; undefined when it isn't in it. */
export function keyIn(row: MemoryRow, kind: IndexKind): EntryKey | undefined {
  if (kind === 'ready') return row.entries.ready ? [row.control.level, row.control.order, row.number] : undefined;
  const dueMs = dueIn(row, kind);
  return dueMs === undefined ? undefined : [dueMs, 0, row.number];
}

function dueIn(row: MemoryRow, kind: Exclude<IndexKind, 'ready'>): number | undefined {
  switch (kind) {
    case 'timer':
      return row.entries.timerMs;
    case 'lease':
      return row.entries.leaseMs;
    case 'inbox':
      for (const { arrivedMs, bytes } of row.inbox.values()) if (bytes) return arrivedMs;
      return undefined;
  }
}

export function isIndexed(row: MemoryRow): boolean {
  const { ready, timerMs, leaseMs } = row.entries;
  return ready || timerMs !== undefined || leaseMs !== undefined || dueIn(row, 'inbox') !== undefined;
}

export function hit(row: MemoryRow, kind: IndexKind): IndexHit {
  const { level, order, inputBytes, state } = row.control;
  return {
    run: row.id,
    fence: { epoch: row.epoch, version: row.version },
    control: { business: runParts(row.id).business, level, order, inputBytes },
    state,
    ready: row.entries.ready,
    dueMs: kind === 'ready' ? 0 : (dueIn(row, kind) ?? 0),
    ...(row.holder ? { holder: decodeHolder(row.holder) } : {}),
  };
}

export function matches(row: MemoryRow, query: RunQuery): boolean {
  if (query.states.length > 0 && !query.states.includes(row.control.state)) return false;
  if (query.parent !== undefined && query.parent !== row.control.parent) return false;
  if (query.business === undefined && query.flow === undefined) return true;
  const { business, flow } = runParts(row.id);
  return (query.business ?? business) === business && (query.flow ?? flow) === flow;
}
