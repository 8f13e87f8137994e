// What SQLite reports, and what follows from it.

/** Those of SQLite's primary result codes (sqlite.org/rescode.html) that Weir tells apart. */
export const sqliteCode = {
  error: 1,
  busy: 5,
  locked: 6,
  noMemory: 7,
  full: 13,
  tooBig: 18,
  constraint: 19,
  mismatch: 20,
  misuse: 21,
  range: 25,
  notADatabase: 26,
} as const;

const passing: ReadonlySet<number> = new Set([
  sqliteCode.busy,
  sqliteCode.locked,
  sqliteCode.noMemory,
  sqliteCode.full,
  sqliteCode.tooBig,
]);

const bugs: ReadonlySet<number> = new Set([
  sqliteCode.error,
  sqliteCode.constraint,
  sqliteCode.mismatch,
  sqliteCode.misuse,
  sqliteCode.range,
]);

/** SQLite's primary result code; undefined for an error that isn't SQLite's. */
export function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

export type Severity =
  /** This write or this moment: the transaction is undone and the next one may succeed. */
  | 'passing'
  /** A statement of ours is wrong. */
  | 'bug'
  /** What is on the disk is in doubt: nothing may be answered `done` any more. */
  | 'fatal';

/** An I/O error, a failed fsync above all, is fatal: what a second try reports says nothing about what the first one lost. */
export function severity(error: unknown): Severity {
  const code = primaryCode(error);
  if (code === undefined || bugs.has(code)) return 'bug';
  return passing.has(code) ? 'passing' : 'fatal';
}

export function causeOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
