// Reads a range of rows region by region, and puts rows together that the server gives in parts.
//
// It owns its place in the range, and the scanner of the region it is in.
// S1  Every row is given once, whole, in order; the place moves only past whole rows.
// S2  What happens to a region or its server costs a restart after the last row given; `restarts` counts it.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Cell, ScanSchema } from '../../../proto/gen/hbase/client_pb.js';
import type { Connections } from './connections.ts';
import type { Locator } from './locator.ts';
import { type Patience, type Try, untilDone } from './patience.ts';
import type { Region, Row, Scanner, ScanOptions } from './port.ts';
import { isBefore } from './region-cache.ts';
import { tryOf } from './region-calls.ts';
import { type Batch, RegionScanner } from './region-scanner.ts';
import { tryOfSearch } from './row-reads.ts';
import { bufferOf, readMessage, rowOf } from './wire.ts';

export interface TableScannerOptions extends ScanOptions {
  readonly connections: Connections;
  readonly locator: Locator;
  readonly patience: Patience;
  readonly table: string;
}

/** What the server gathers before it answers: large enough to be worth a call, small enough to come in a moment. */
const maxBatchBytes = 2n * 1024n * 1024n;
const defaultBatchRows = 1_000;
/** A row in parts is held in memory. */
const maxRowBytes = 128 * 1024 * 1024;

/** Where the scan goes on. `inclusive`: the row itself was not given yet. */
interface Place {
  readonly row: Buffer;
  readonly inclusive: boolean;
}

interface Current {
  readonly region: Region;
  readonly scanner: RegionScanner;
  /** It gave a batch. */
  begun: boolean;
}

export class TableScanner implements Scanner {
  readonly #options: TableScannerOptions;
  #place: Place;
  #current: Current | undefined;
  /** Of the row that came in part so far. */
  #cells: Cell[] = [];
  #rowBytes = 0;
  #rowsLeft: number;
  #ended = false;
  #reading = false;
  #restarts = 0;

  constructor(options: TableScannerOptions) {
    checkAtLeastOne('limit', options.limit);
    checkAtLeastOne('batch', options.batch);
    this.#options = options;
    this.#place = { row: options.startRow, inclusive: true };
    this.#rowsLeft = options.limit ?? Number.POSITIVE_INFINITY;
  }

  get restarts(): number {
    return this.#restarts;
  }

  async next(): Promise<readonly Row[]> {
    if (this.#reading) throw new Error('a scanner was asked for its next rows before it had given the last ones');
    this.#reading = true;
    try {
      const { patience, table } = this.#options;
      while (!this.#ended) {
        // Every answer, also one without rows, is progress and begins the time anew.
        const rows = await untilDone(patience, `a scan of table "${table}"`, (timeoutMs) => this.#step(timeoutMs));
        if (rows.length > 0) return rows;
      }
      return [];
    } finally {
      this.#reading = false;
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    const current = this.#current;
    this.#current = undefined;
    await current?.scanner.close(this.#options.patience.callTimeoutMs);
  }

  async #step(timeoutMs: number): Promise<Try<readonly Row[]>> {
    const { locator } = this.#options;
    const opened = this.#current === undefined ? await this.#open() : undefined;
    if (opened !== undefined && opened.kind !== 'done') return opened;
    const current = this.#current!;
    const limitRows = Number.isFinite(this.#rowsLeft) ? this.#rowsLeft : 0;
    const outcome = await current.scanner.next(limitRows, timeoutMs);
    const batch = tryOf(locator, current.region, outcome);
    if (batch.kind === 'done') {
      current.begun = true;
      const rows = this.#take(batch.value);
      if (batch.value.end !== undefined) this.#finishRegion(current.region, batch.value.end);
      if (this.#rowsLeft <= 0) await this.close();
      return { kind: 'done', value: rows };
    }
    if (current.begun) this.#restarts += 1;
    this.#current = undefined;
    this.#forgetPart();
    // The server may hold the scanner still.
    if (outcome.kind === 'lost') void current.scanner.close(timeoutMs);
    return batch;
  }

  async #open(): Promise<Try<void>> {
    const { connections, patience, stopRow, reversed = false, batch = defaultBatchRows } = this.#options;
    const found = await this.#locate(reversed);
    if (found.kind !== 'found') return tryOfSearch(found);
    const { row, inclusive } = this.#place;
    const scan: MessageInitShape<typeof ScanSchema> = {
      ...readMessage(this.#options),
      startRow: row,
      includeStartRow: inclusive,
      stopRow,
      reversed,
      caching: batch,
      maxResultSize: maxBatchBytes,
    };
    const { clock } = patience;
    const scanner = new RegionScanner({ connections, clock, region: found.value, scan, batchRows: batch });
    this.#current = { region: found.value, scanner, begun: false };
    return { kind: 'done', value: undefined };
  }

  async #locate(reversed: boolean): ReturnType<Locator['locate']> {
    const { locator, table } = this.#options;
    const { row, inclusive } = this.#place;
    if (!reversed) return await locator.locate(table, row);
    if (row.length === 0) return await locator.locateEndingAt(table, row);
    const found = await locator.locate(table, row);
    const isBelow = found.kind === 'found' && !inclusive && found.value.startRow.equals(row);
    return isBelow ? await locator.locateEndingAt(table, row) : found;
  }

  #finishRegion({ startRow, endRow }: Region, end: NonNullable<Batch['end']>): void {
    this.#current = undefined;
    const { stopRow, reversed = false } = this.#options;
    const edge = reversed ? startRow : endRow;
    const isInRange = reversed ? Buffer.compare(stopRow, edge) < 0 : isBefore(edge, stopRow);
    if (end === 'all' || edge.length === 0 || !isInRange) this.#ended = true;
    else this.#place = { row: edge, inclusive: !reversed };
  }

  #take({ results, end }: Batch): readonly Row[] {
    const rows: Row[] = [];
    for (const { cell, partial } of results) {
      const [first] = cell;
      if (first === undefined) continue;
      // The last part of a row isn't always marked so.
      const before = this.#cells[0];
      if (before !== undefined && !bufferOf(before.row).equals(first.row)) this.#completeRow(rows);
      for (const one of cell) this.#hold(one);
      if (!partial) this.#completeRow(rows);
    }
    if (end !== undefined) this.#completeRow(rows);
    const last = rows.at(-1);
    if (last !== undefined) this.#place = { row: Buffer.from(last.row), inclusive: false };
    this.#rowsLeft -= rows.length;
    return rows;
  }

  #hold(cell: Cell): void {
    this.#cells.push(cell);
    this.#rowBytes += cell.value.length;
    if (this.#rowBytes > maxRowBytes) {
      throw new RangeError(`a row of table "${this.#options.table}" has more than ${maxRowBytes} bytes`);
    }
  }

  #completeRow(rows: Row[]): void {
    const row = rowOf(this.#cells);
    if (row !== undefined) rows.push(row);
    this.#forgetPart();
  }

  #forgetPart(): void {
    this.#cells = [];
    this.#rowBytes = 0;
  }
}

function checkAtLeastOne(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return;
  throw new RangeError(`"${name}" of a scan is ${value}; integers from 1 are allowed`);
}
