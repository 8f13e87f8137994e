// How an entry of the configuration is kept in a node: one line of JSON, a line feed, then the value where it fits. A larger value lies
// in chunks of its own (chunks.ts), named in that line.

import { createHash } from 'node:crypto';
import { isCount, isText } from './record.ts';

/** Of a value that stands in its node, and of one chunk, in bytes: a server takes 1 MiB with everything around it. */
export const maxInlineBytes = 512 * 1024;

/** Writers of an entry that it remembers: whoever lost an answer finds out from them, also when others have written since. */
const maxWriters = 16;

export interface EntryHead {
  /** The port's version, from 1. */
  readonly version: number;
  /** Ids of the puts that made the last versions, the newest last. */
  readonly writers: readonly string[];
  /** Of the value. */
  readonly bytes: number;
  readonly sha256: string;
  /** Where the value lies when it isn't in the node. */
  readonly chunks?: string;
}

/** The only form so far; record.ts says what may change without another number. */
const form = 1;
const lineFeed = 0x0a;

export interface EntryNode {
  readonly head: EntryHead;
  /** Absent when it lies in chunks. */
  readonly value: Uint8Array | undefined;
}

/** The node after a put of `value` over `before`. */
export function nextEntry(
  before: EntryHead | undefined,
  writer: string,
  value: Uint8Array,
  chunks: string | undefined,
): Uint8Array {
  const head = {
    form,
    version: (before?.version ?? 0) + 1,
    writers: [...(before?.writers ?? []), writer].slice(-maxWriters),
    bytes: value.length,
    sha256: hashOf(value),
    ...(chunks !== undefined && { chunks }),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), chunks === undefined ? value : new Uint8Array(0)]);
}

/** undefined for what no put has written. */
export function readEntry(data: Uint8Array): EntryNode | undefined {
  const end = data.indexOf(lineFeed);
  if (end < 0) return undefined;
  let head: unknown;
  try {
    head = JSON.parse(Buffer.from(data.subarray(0, end)).toString());
  } catch {
    return undefined;
  }
  if (!isHead(head)) return undefined;
  if (head.chunks !== undefined) return { head, value: undefined };
  const value = new Uint8Array(data.subarray(end + 1));
  return isWhole(head, value) ? { head, value } : undefined;
}

export function isWhole(head: EntryHead, value: Uint8Array): boolean {
  return value.length === head.bytes && hashOf(value) === head.sha256;
}

function isHead(value: unknown): value is EntryHead {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const { version, writers, bytes, sha256, chunks } = fields;
  if (fields['form'] !== form || !isCount(version) || !Number.isSafeInteger(bytes) || !isText(sha256)) return false;
  return Array.isArray(writers) && writers.every(isText) && (chunks === undefined || isText(chunks));
}

function hashOf(value: Uint8Array): string {
  return createHash('sha256').update(value).digest('hex');
}
