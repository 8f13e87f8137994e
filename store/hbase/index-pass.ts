// One walk over a kind of index entries in one shard: a scanner that stays open between pages, so that the walk sees the shard as it
// was at its beginning, however its entries move meanwhile.
//
// Owns its scanner, and what was read and not shown yet. One call at a time.

import type { Clock } from '../../platform/clock/clock.ts';
import { columns } from './cells.ts';
import type { HBase, Row, Scanner } from './client/port.ts';
import { column } from './columns.ts';
import type { LowWater, ScanRange } from './low-water.ts';
import { afterRow } from './row-key.ts';

export interface PassOptions {
  readonly hbase: HBase;
  readonly table: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Undefined for a pass that goes on in the middle: nothing is learnt of where entries begin. */
  readonly lowWater: LowWater | undefined;
  readonly ranges: readonly ScanRange[];
  /** The ranges begin at the very beginning: what they take is told to the low water. */
  readonly isWhole: boolean;
  /** Only rows below it. */
  readonly stopRow: Buffer;
  /** Rows of a batch. */
  readonly batch: number;
  /** Whether a row is shown. */
  readonly isShown: (row: Row) => boolean;
}

export class IndexPass {
  readonly #options: PassOptions;
  readonly #ranges: ScanRange[];
  #scanner: Scanner | undefined;
  #ahead: Row[] = [];
  #last: Buffer | undefined;

  constructor(options: PassOptions) {
    this.#options = options;
    this.#ranges = [...options.ranges];
  }

  /** The last row that was shown. */
  get last(): Buffer | undefined {
    return this.#last;
  }

  /** The next rows, at most `limit`, and whether there are more. Throws HBaseFailure. */
  async page(limit: number): Promise<{ rows: readonly Row[]; hasMore: boolean }> {
    while (this.#ahead.length <= limit) {
      const rows = await this.#read();
      if (!rows) break;
      for (const row of rows) if (this.#options.isShown(row)) this.#ahead.push(row);
    }
    const rows = this.#ahead.splice(0, limit);
    this.#last = rows.at(-1)?.row ?? this.#last;
    return { rows, hasMore: this.#ahead.length > 0 };
  }

  async close(): Promise<void> {
    await this.#scanner?.close();
    this.#scanner = undefined;
    this.#ranges.length = 0;
  }

  /** The next rows of the present range, or of the next one; undefined at the end. */
  async #read(): Promise<readonly Row[] | undefined> {
    const { clock, lowWater, isWhole } = this.#options;
    for (;;) {
      this.#scanner ??= this.#open();
      if (!this.#scanner) return undefined;
      const beganMs = clock.monotonicMs();
      const rows = await this.#scanner.next();
      if (isWhole) lowWater?.took(clock.monotonicMs() - beganMs, rows.length);
      if (rows.length > 0) {
        lowWater?.seen(rows.map(({ row }) => row));
        return rows;
      }
      await this.#scanner.close();
      this.#scanner = undefined;
    }
  }

  #open(): Scanner | undefined {
    const { hbase, table, stopRow, batch } = this.#options;
    for (let range = this.#ranges.shift(); range; range = this.#ranges.shift()) {
      const end = range.end.compare(stopRow) < 0 ? range.end : stopRow;
      if (range.begin.compare(end) >= 0) continue;
      return hbase.scan(table, { startRow: range.begin, stopRow: end, batch, columns: columns([column.value]) });
    }
    return undefined;
  }
}

/** What is left of a walk that was given up after `row`. */
export function rangeAfter(row: Buffer, end: Buffer): readonly ScanRange[] {
  return [{ begin: afterRow(row), end }];
}
