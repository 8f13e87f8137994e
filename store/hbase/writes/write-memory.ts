import type { KnownRuns } from '../run-facts.ts';

/** What writes tell the rest of the store. */
export interface WriteMemory {
  readonly known: KnownRuns;
  /** These rows of the index are about to be written: scans must not begin behind them. */
  noteIndexRows(rows: readonly Buffer[]): void;
}

/** Where a write's answer goes; a bug rejects. */
export interface Answering<Result> {
  resolve(result: Result): void;
  reject(bug: unknown): void;
}
