// Keys of the table's rows: `<shard><kind>…`, described byte by byte in docs/hbase.md. All rows of a shard lie together, so
// that they are in one region and one call changes any of them. Inside a kind the order of the keys is the order of a scan.

import { createHash } from 'node:crypto';
import { identityOf, latin1, runParts, shardOf } from '../../flow/run-id.ts';
import type { RunId } from '../run-name.ts';

/** Shards of a table, at most: a shard is four hexadecimal digits. */
export const maxShards = 65_536;

/** The letter behind the shard. */
export const rowKind = {
  alarm: 'n',
  alarmOrder: 'o',
  assignment: 'a',
  child: 'c',
  event: 'e',
  eventMark: 'm',
  execution: 'x',
  inbox: 'i',
  lease: 'l',
  ready: 'q',
  run: 'r',
  timer: 't',
} as const;

export type RowKind = (typeof rowKind)[keyof typeof rowKind];

/** The row that says what table this is. It sorts before all shards. */
export const settingsRow = Buffer.from('!weir');

const shardDigits = 4;
const generationBytes = 4;
const numberBytes = 8;
const parentHashBytes = 16;
export const levels = 9;

const keyEnd = Buffer.from([0, 0]);

export function shardPrefix(shard: number): Buffer {
  return Buffer.from(shard.toString(16).padStart(shardDigits, '0'), 'latin1');
}

/** First bytes of all rows of a kind in a shard. */
export function kindPrefix(shard: number, kind: RowKind): Buffer {
  return Buffer.from(`${shard.toString(16).padStart(shardDigits, '0')}${kind}`, 'latin1');
}

/** The end of a range that begins with `prefix`: the first key that doesn't begin with it. */
export function afterPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let last = end.length - 1; last >= 0; last--) {
    const byte = end[last] ?? 0;
    if (byte === 0xff) continue;
    end[last] = byte + 1;
    return end.subarray(0, last + 1);
  }
  throw new RangeError('a prefix of 0xff bytes only has no end');
}

/** The first key after `row`. */
export function afterRow(row: Buffer): Buffer {
  return Buffer.concat([row, Buffer.of(0)]);
}

/**
 * A run in a key: `business/flow/key`, a zero byte of it as 00 01, closed by 00 00; then the generation, the newest first. No
 * identity begins with another one, so the generations of one lie together.
 */
export function runSuffix(run: RunId): Buffer {
  const generation = Buffer.alloc(generationBytes);
  generation.writeUInt32BE(0xffff_ffff - runParts(run).generation);
  return Buffer.concat([identitySuffix(identityOf(run)), generation]);
}

/** What the keys of all generations of an identity have behind the kind. */
export function identitySuffix(identity: string): Buffer {
  const escaped = identity.includes('\0') ? identity.replaceAll('\0', '\0\u0001') : identity;
  return Buffer.concat([Buffer.from(escaped, 'latin1'), keyEnd]);
}

/** The run that a suffix names, and the bytes behind it. Throws for a key that isn't ours. */
export function readRunSuffix(key: Buffer, begin: number): { run: RunId; rest: Buffer } {
  let end = key.indexOf(0, begin);
  let escapes = false;
  while (end >= 0 && key[end + 1] === 1) {
    escapes = true;
    end = key.indexOf(0, end + 2);
  }
  const restAt = end + keyEnd.length + generationBytes;
  if (end < 0 || key[end + 1] !== 0 || restAt > key.length) throw foreign(key);
  const escaped = key.toString('latin1', begin, end);
  const identity = escapes ? escaped.replaceAll('\0\u0001', '\0') : escaped;
  const generation = 0xffff_ffff - key.readUInt32BE(end + keyEnd.length);
  return { run: `${generation}/${identity}` as RunId, rest: key.subarray(restAt) };
}

/** Where the part of a key begins that is peculiar to its row. */
export const behindKind = shardDigits + 1;

/** Keys of one run. */
export class RunKeys {
  readonly shard: number;
  readonly suffix: Buffer;

  constructor(run: RunId, shards: number) {
    this.shard = shardOf(run, shards);
    this.suffix = runSuffix(run);
  }

  get row(): Buffer {
    return this.#key(rowKind.run);
  }

  ready(level: number, order: number): Buffer {
    return readyKey(this.shard, level, order, this.suffix);
  }

  timer(dueMs: number): Buffer {
    return this.#key(rowKind.timer, number8(dueMs), this.suffix);
  }

  lease(dueMs: number): Buffer {
    return this.#key(rowKind.lease, number8(dueMs), this.suffix);
  }

  inbox(arrivedMs: number, sequence: number): Buffer {
    return this.#key(rowKind.inbox, number8(arrivedMs), this.suffix, number8(sequence));
  }

  get events(): Buffer {
    return this.#key(rowKind.event);
  }

  event(sequence: number): Buffer {
    return this.#key(rowKind.event, this.suffix, number8(sequence));
  }

  eventMark(eventId: string): Buffer {
    return this.#key(rowKind.eventMark, this.suffix, Buffer.from(eventId));
  }

  get executions(): Buffer {
    return this.#key(rowKind.execution);
  }

  execution(version: number): Buffer {
    return this.#key(rowKind.execution, this.suffix, number8(version));
  }

  /** In this run's shard: it was started by `parent`. */
  child(parent: RunId): Buffer {
    return Buffer.concat([childPrefix(this.shard, parent), this.suffix]);
  }

  #key(kind: RowKind, ...parts: readonly Buffer[]): Buffer {
    return Buffer.concat([kindPrefix(this.shard, kind), ...(parts.length === 0 ? [this.suffix] : parts)]);
  }
}

function readyKey(shard: number, level: number, order: number, suffix: Buffer): Buffer {
  return Buffer.concat([levelPrefix(shard, level), number8(order), suffix]);
}

/** First bytes of the ready rows of a level. */
export function levelPrefix(shard: number, level: number): Buffer {
  return Buffer.concat([kindPrefix(shard, rowKind.ready), Buffer.of(level)]);
}

/** The end of the rows of `kind` that are due by `untilMs`. */
export function afterTime(shard: number, kind: 'l' | 't', untilMs: number): Buffer {
  const prefix = kindPrefix(shard, kind);
  if (untilMs >= Number.MAX_SAFE_INTEGER) return afterPrefix(prefix);
  return Buffer.concat([prefix, number8(Math.max(0, Math.floor(untilMs) + 1))]);
}

/** Where the run's suffix begins in a row of the index. */
export const indexSuffixAt = {
  ready: behindKind + 1 + numberBytes,
  timer: behindKind + numberBytes,
  lease: behindKind + numberBytes,
  inbox: behindKind + numberBytes,
} as const;

/** The time in a row of `timer`, `lease` or `inbox`. */
export function timeIn(key: Buffer): number {
  return readNumber8(key, behindKind);
}

/** The first rows of the runs that `parent` started, in one shard. A hash: names of parents are long, and contain one another. */
export function childPrefix(shard: number, parent: RunId): Buffer {
  const hash = createHash('sha256').update(parent, 'latin1').digest().subarray(0, parentHashBytes);
  return Buffer.concat([kindPrefix(shard, rowKind.child), hash]);
}

export const childSuffixAt = behindKind + parentHashBytes;

/** `name` is any text whose hash says the shard: of what isn't about one run. */
export function shardOfName(name: string, shards: number): number {
  return shardOf(`/${name}` as RunId, shards);
}

export function assignmentRow(business: string, itemKey: Uint8Array, shards: number): Buffer {
  const name = `${business}/${latin1(itemKey)}`;
  return Buffer.concat([kindPrefix(shardOfName(name, shards), rowKind.assignment), Buffer.from(name, 'latin1')]);
}

export function alarmRow(shard: number, key: string): Buffer {
  return Buffer.concat([kindPrefix(shard, rowKind.alarm), Buffer.from(key)]);
}

/**
 * Orders alarms: the newest first, and of one time the greatest key first; behind them who counted it. The key is closed as
 * that of an item, then all of it inverted.
 */
export function alarmOrderRow(shard: number, lastMs: number, key: string, writer: string): Buffer {
  return Buffer.concat([alarmOrderBegin(shard, lastMs, key), Buffer.from(writer)]);
}

/** The first bytes of the rows of an alarm at its place. */
export function alarmOrderBegin(shard: number, lastMs: number, key: string): Buffer {
  const place = number8(Number.MAX_SAFE_INTEGER - lastMs);
  const closed = Buffer.concat([Buffer.from(key.replaceAll('\0', '\0\u0001')), keyEnd]);
  for (const [index, byte] of closed.entries()) closed[index] = 0xff - byte;
  return Buffer.concat([kindPrefix(shard, rowKind.alarmOrder), place, closed]);
}

/** A whole number from 0 to 2^53 - 1 in eight bytes, so that greater ones sort later. */
export function number8(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(numberBytes);
  bytes.writeUInt32BE(Math.floor(value / 0x1_0000_0000), 0);
  bytes.writeUInt32BE(value % 0x1_0000_0000, 4);
  return bytes;
}

export function readNumber8(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 0x1_0000_0000 + bytes.readUInt32BE(at + 4);
}

function foreign(key: Buffer): Error {
  return new Error(`a row whose key isn't Weir's: ${key.toString('hex')}`);
}
