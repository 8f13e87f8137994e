// Columns of the rows, and the bytes of those that are no protobuf messages (docs/hbase.md).
//
// Names of ours begin with a dot; names of steps and fields don't begin a qualifier otherwise. So a field has a qualifier that is its
// key, and its value are the bytes of the field as they are: other systems read them without knowing Weir.

import type { Holder, IndexEntries } from '../../flow/run.ts';
import type { Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeHolder } from '../codec.ts';
import type { Fence } from '../port.ts';
import { number8, readNumber8 } from './row-key.ts';

/** The only column family: what changes together must lie in one store of the region. One letter, since every cell repeats it. */
export const family = 'w';

export const column = {
  /** Epoch and version: what every condition compares. */
  fence: Buffer.from('.fence'),
  /** Claims since the last accepted commit, and the id of the last write. */
  write: Buffer.from('.write'),
  /** Empty: nobody holds it. */
  holder: Buffer.from('.holder'),
  entries: Buffer.from('.entries'),
  control: Buffer.from('.control'),
  /** State and reason of the control data, a byte each, for filters and counts. */
  state: Buffer.from('.state'),
  reason: Buffer.from('.reason'),
  /** Events that were ever posted. */
  inbox: Buffer.from('.inbox'),
  /** The one column of rows that have one. */
  value: Buffer.from('v'),
  /** Never written: what a condition that changes nothing deletes. */
  never: Buffer.from('.never'),
} as const;

export const stepPrefix = '.s/';
/** Fields whose bytes are kept elsewhere: a FieldCell. */
export const referencePrefix = '.f/';

/**
 * The timestamp of what a write with this fence puts or deletes. It rises with every change of a run's rows, so nothing is hidden by
 * what came before, and nothing that comes late can hide what came after. Promotion, which doesn't move the fence, has the
 * number between two versions.
 */
export function stampOf(version: number, promoted = false): number {
  return version * 2 + (promoted ? 1 : 0);
}

/** Of the rows of an event, which are put once and deleted once. */
export const eventStamp = 1;
/** Of an inbox entry that a repair put again. */
export const repairedEventStamp = 2;

export function encodeFence({ epoch, version }: Fence): Buffer {
  return Buffer.concat([number8(epoch), number8(version)]);
}

export function decodeFence(bytes: Buffer, at = 0): Fence {
  return { epoch: readNumber8(bytes, at), version: readNumber8(bytes, at + 8) };
}

export function sameFence(left: Fence, right: Fence): boolean {
  return left.epoch === right.epoch && left.version === right.version;
}

export function encodeWrite(barrenClaims: number, writeId: string): Buffer {
  const id = Buffer.from(writeId);
  const bytes = Buffer.alloc(4 + id.length);
  bytes.writeUInt32BE(barrenClaims, 0);
  id.copy(bytes, 4);
  return bytes;
}

export function decodeWrite(bytes: Buffer): { barrenClaims: number; writeId: string } {
  return { barrenClaims: bytes.readUInt32BE(0), writeId: bytes.toString('utf8', 4) };
}

export function stateIn(bytes: Buffer, at = 0): State {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- What was stored is one, perhaps a newer one.
  return bytes.readUInt8(at);
}

export function reasonIn(bytes: Buffer): Reason {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- What was stored is one, perhaps a newer one.
  return bytes.readUInt8(0);
}

/** A run's place in the index, as its row says it: what its index rows are derived from. */
export interface Entries extends IndexEntries {
  readonly level: number;
  readonly order: number;
}

const entryFlag = { ready: 1, timer: 2, lease: 4 } as const;

/** flags, level, order, timer, lease. */
export function encodeEntries({ ready, timerMs, leaseMs, level, order }: Entries): Buffer {
  const flags =
    (ready ? entryFlag.ready : 0) |
    (timerMs === undefined ? 0 : entryFlag.timer) |
    (leaseMs === undefined ? 0 : entryFlag.lease);
  return Buffer.concat([Buffer.of(flags, level), number8(order), number8(timerMs ?? 0), number8(leaseMs ?? 0)]);
}

export function decodeEntries(bytes: Buffer): Entries {
  const flags = bytes[0] ?? 0;
  return {
    ready: (flags & entryFlag.ready) !== 0,
    level: bytes[1] ?? 0,
    order: readNumber8(bytes, 2),
    ...((flags & entryFlag.timer) !== 0 && { timerMs: readNumber8(bytes, 10) }),
    ...((flags & entryFlag.lease) !== 0 && { leaseMs: readNumber8(bytes, 18) }),
  };
}

/** What a row of the index says of its run: enough to offer it without reading it. */
export interface IndexValue {
  readonly fence: Fence;
  readonly state: State;
  readonly ready: boolean;
  readonly level: number;
  readonly order: number;
  readonly inputBytes: number;
  /** A Holder message; empty when nobody holds it. */
  readonly holder: Uint8Array;
}

const indexHolderAt = 35;

/** fence, state, ready, level, order, input bytes, holder. */
export function encodeIndexValue({ fence, state, ready, level, order, inputBytes, holder }: IndexValue): Buffer {
  const place = [number8(order), number8(inputBytes)];
  return Buffer.concat([encodeFence(fence), Buffer.of(state, ready ? 1 : 0, level), ...place, holder]);
}

export function decodeIndexValue(bytes: Buffer): Omit<IndexValue, 'holder'> & { readonly holder?: Holder } {
  return {
    fence: decodeFence(bytes),
    state: stateIn(bytes, 16),
    ready: bytes[17] === 1,
    level: bytes[18] ?? 0,
    order: readNumber8(bytes, 19),
    inputBytes: readNumber8(bytes, 27),
    ...(bytes.length > indexHolderAt && { holder: decodeHolder(bytes.subarray(indexHolderAt)) }),
  };
}

/** Of an event: its place in the order of arrival, and its arrival. */
export function encodeMark(sequence: number, arrivedMs: number): Buffer {
  return Buffer.concat([number8(sequence), number8(arrivedMs)]);
}

export function decodeMark(bytes: Buffer): { sequence: number; arrivedMs: number } {
  return { sequence: readNumber8(bytes, 0), arrivedMs: readNumber8(bytes, 8) };
}
