// Places between two pages. A place is the key of the last row shown, so that a page goes on where the last one ended,
// whatever was written meanwhile.

import type { ScanPosition } from './port.ts';

/** Runs or entries on a page: what a caller can hold and a store can read without holding up others. */
export const maxPageRows = 1_000;

export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPageRows) {
    throw new RangeError(`a page has 1 to ${maxPageRows} rows, not ${limit}`);
  }
}

/** Key of an index entry: its level and order, or its time and 0; then the run's number in this store. */
export type EntryKey = readonly [first: number, second: number, run: number];

export const beforeAllEntries: EntryKey = [-1, -1, -1];

export function positionOf(key: EntryKey): ScanPosition {
  return key.join('.') as ScanPosition;
}

export function entryKey(position: ScanPosition): EntryKey {
  const parts = position.split('.').map(Number);
  const [first = Number.NaN, second = Number.NaN, run = Number.NaN] = parts;
  if (parts.length !== 3 || !parts.every(Number.isSafeInteger)) {
    throw new RangeError(`not a position of this store: ${position}`);
  }
  return [first, second, run];
}

export function compareKeys(a: EntryKey, b: EntryKey): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** The run's number in this store that a page of `list` ended with; 0 before the first page. */
export function listPlace(after: string | undefined): number {
  const place = after === undefined ? 0 : Number(after);
  if (!Number.isSafeInteger(place) || place < 0) throw new RangeError(`not a page of this store: ${after}`);
  return place;
}

/** An alarm's place: newest first, by time and then by key. */
export interface AlarmPlace {
  readonly lastMs: number;
  readonly key: string;
}

export function alarmPosition(place: AlarmPlace): string {
  return `${place.lastMs}/${place.key}`;
}

export function alarmPlace(after: string): AlarmPlace {
  const slash = after.indexOf('/');
  const lastMs = Number(after.slice(0, Math.max(0, slash)));
  if (slash < 1 || !Number.isSafeInteger(lastMs)) throw new RangeError(`not a page of this store: ${after}`);
  return { lastMs, key: after.slice(slash + 1) };
}
