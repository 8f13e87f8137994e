// Scans of the index, page by page.
//
// Owns the walks that wait for their next page. A position names its walk and the last row of its page: when the walk is still there
// it goes on, when it was given up (too many, or nobody came back for it) a new one begins behind that row. Both see every
// entry that stands still (S5): keys don't change by themselves, and no range is left out.
//
// Invariants:
//   N1  At most `maxOpen` walks wait, each at most `idleMs`: a region server keeps something for each.
//   N2  A walk is taken out while a page of it is read, so it is never read twice at a time.

import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { decodeHolder } from '../codec.ts';
import { checkLimit } from '../paging.ts';
import type { IndexHit, IndexKind, ScanPage, ScanPosition, ScanRequest } from '../port.ts';
import type { RunId } from '../run-name.ts';
import { columns, valueOf } from './cells.ts';
import type { HBase, Row } from './client/port.ts';
import { column, decodeIndexValue } from './columns.ts';
import { IndexPass, type PassOptions, rangeAfter } from './index-pass.ts';
import { LowWater, type LowWaterOptions, type ScanRange } from './low-water.ts';
import {
  afterPrefix,
  afterTime,
  indexSuffixAt,
  kindPrefix,
  levelPrefix,
  levels,
  RunKeys,
  readRunSuffix,
  rowKind,
  timeIn,
} from './row-key.ts';
import { type RunFacts, readFacts } from './run-facts.ts';

export interface IndexScannerOptions extends LowWaterOptions {
  readonly hbase: HBase;
  readonly table: string;
  readonly shards: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** Walks that wait for their next page. */
  readonly maxOpen: number;
  /** How long one waits before it is given up, in ms. */
  readonly idleMs: number;
}

interface WaitingPass {
  readonly pass: IndexPass;
  readonly untilMs: number | undefined;
  readonly timer: Timer;
}

/** Runs whose events were shown in a walk, so that a run with many is shown once; beyond that it may be shown again. */
const maxShownRuns = 100_000;

const letters = { ready: rowKind.ready, timer: rowKind.timer, lease: rowKind.lease, inbox: rowKind.inbox } as const;

/** The columns that say what a row of the index can't, since it is older than the run's state. */
const joinedColumns = columns([column.fence, column.write, column.entries, column.control, column.holder]);

export class IndexScanner {
  readonly #options: IndexScannerOptions;
  /** The longest waiting first. */
  readonly #waiting = new Map<string, WaitingPass>();
  readonly #lowWaters = new Map<string, LowWater>();
  #passes = 0;
  #closed = false;

  constructor(options: IndexScannerOptions) {
    this.#options = options;
  }

  async scan(request: ScanRequest): Promise<ScanPage> {
    checkLimit(request.limit);
    const { id, pass } = request.after === undefined ? this.#begin(request) : this.#goOn(request, request.after);
    let page: Awaited<ReturnType<IndexPass['page']>>;
    try {
      page = await pass.page(request.limit);
    } catch (error) {
      await pass.close();
      throw error;
    }
    const next = page.hasMore && !this.#closed ? this.#wait(id, pass, request) : undefined;
    if (next === undefined) await pass.close();
    const hits = await this.#hits(request.kind, page.rows);
    return next === undefined ? { hits } : { hits, next };
  }

  /** Rows of the index that this process is about to write. */
  noteWritten(rows: readonly Buffer[]): void {
    for (const row of rows) this.#lowWaters.get(row.toString('latin1', 0, 5))?.written(row);
  }

  /** Ends all walks; those whose page is being read end with it. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const id of [...this.#waiting.keys()]) await this.#take(id)?.pass.close();
  }

  #begin(request: ScanRequest): { id: string; pass: IndexPass } {
    const lowWater = this.#lowWater(request.shard, request.kind);
    return this.#open(request, { lowWater, ...lowWater.begin() });
  }

  #goOn(request: ScanRequest, after: ScanPosition): { id: string; pass: IndexPass } {
    const { id, row } = this.#readPosition(request, after);
    const waiting = this.#take(id);
    if (waiting?.pass.last?.equals(row) && waiting.untilMs === request.untilMs) return { id, pass: waiting.pass };
    if (waiting) closeUnawaited(waiting.pass);
    const ranges = rangeAfter(row, endOf(request));
    return this.#open(request, { lowWater: undefined, ranges, isWhole: false });
  }

  #open(request: ScanRequest, from: Pick<PassOptions, 'lowWater' | 'ranges' | 'isWhole'>) {
    const { hbase, table, clock } = this.#options;
    const stopRow = endOf(request);
    const isShown = request.kind === 'inbox' ? firstOfEachRun() : () => true;
    const batch = request.limit + 1;
    const pass = new IndexPass({ hbase, table, clock, ...from, stopRow, batch, isShown });
    return { id: (++this.#passes).toString(36), pass };
  }

  #wait(id: string, pass: IndexPass, { untilMs }: ScanRequest): ScanPosition {
    const { clock, idleMs, maxOpen } = this.#options;
    if (this.#waiting.size >= maxOpen) {
      for (const oldest of this.#waiting.keys()) {
        this.#giveUp(oldest);
        break;
      }
    }
    this.#waiting.set(id, { pass, untilMs, timer: clock.after(idleMs, () => this.#giveUp(id)) });
    return `${id}.${pass.last?.toString('base64url') ?? ''}` as ScanPosition;
  }

  #take(id: string): WaitingPass | undefined {
    const waiting = this.#waiting.get(id);
    waiting?.timer.cancel();
    this.#waiting.delete(id);
    return waiting;
  }

  #giveUp(id: string): void {
    const waiting = this.#take(id);
    if (waiting) closeUnawaited(waiting.pass);
  }

  #readPosition({ shard, kind }: ScanRequest, position: ScanPosition): { id: string; row: Buffer } {
    const [id = '', encoded = ''] = position.split('.');
    const row = Buffer.from(encoded, 'base64url');
    const prefix = kindPrefix(shard, letters[kind]);
    if (row.subarray(0, prefix.length).equals(prefix)) return { id, row };
    throw new RangeError(`not a position of this scan: ${position}`);
  }

  async #hits(kind: IndexKind, rows: readonly Row[]): Promise<IndexHit[]> {
    const found = rows.map((row) => ({ row, run: readRunSuffix(row.row, indexSuffixAt[kind]).run }));
    if (kind === 'ready' || kind === 'timer') {
      return found.map(({ row, run }) => hitOf(row, run, kind === 'ready' ? 0 : timeIn(row.row)));
    }
    if (found.length === 0) return [];
    const { hbase, table, shards } = this.#options;
    const keys = found.map(({ run }) => new RunKeys(run, shards).row);
    const runs = await hbase.getMany(table, keys, { columns: joinedColumns });
    return found.flatMap(({ row, run }, index) => joinedHit(kind, timeIn(row.row), run, runs[index]));
  }

  #lowWater(shard: number, kind: IndexKind): LowWater {
    const prefix = kindPrefix(shard, letters[kind]);
    const name = prefix.toString('latin1');
    let lowWater = this.#lowWaters.get(name);
    if (!lowWater) {
      lowWater = new LowWater(kind === 'ready' ? readyParts(shard) : [wholeOf(prefix)], this.#options);
      this.#lowWaters.set(name, lowWater);
    }
    return lowWater;
  }
}

function wholeOf(prefix: Buffer): ScanRange {
  return { begin: prefix, end: afterPrefix(prefix) };
}

/** Tombstones lie at the head of each level. */
function readyParts(shard: number): ScanRange[] {
  return Array.from({ length: levels }, (_, index) => wholeOf(levelPrefix(shard, index + 1)));
}

function endOf({ shard, kind, untilMs }: ScanRequest): Buffer {
  const letter = letters[kind];
  const isTimed = letter === rowKind.timer || letter === rowKind.lease;
  if (isTimed && untilMs !== undefined) return afterTime(shard, letter, untilMs);
  return afterPrefix(kindPrefix(shard, letter));
}

function firstOfEachRun(): (row: Row) => boolean {
  const shown = new Set<RunId>();
  return ({ row }) => {
    const { run } = readRunSuffix(row, indexSuffixAt.inbox);
    if (shown.has(run)) return false;
    if (shown.size < maxShownRuns) shown.add(run);
    return true;
  };
}

/** Entries of unheld runs say all that is needed: whoever changes the run replaces them. */
function hitOf(row: Row, run: RunId, dueMs: number): IndexHit {
  const value = valueOf(row, column.value);
  if (!value) throw new Error(`an index row has no value: ${row.row.toString('hex')}`);
  const { fence, state, ready, level, order, inputBytes, holder } = decodeIndexValue(value);
  const control = { business: businessOf(run), level, order, inputBytes };
  return { run, fence, control, state, ready, dueMs, ...(holder && { holder }) };
}

/** Of held runs and of events the row says what is so now. An entry that it doesn't confirm is none. */
function joinedHit(kind: IndexKind, dueMs: number, run: RunId, row: Row | undefined): IndexHit[] {
  const facts: RunFacts | undefined = readFacts(row);
  if (!row || !facts || (kind === 'lease' && facts.entries.leaseMs !== dueMs)) return [];
  const { fence, level, order, inputBytes, state, entries } = facts;
  const holder = valueOf(row, column.holder);
  const control = { business: businessOf(run), level, order, inputBytes };
  const held = holder && holder.length > 0 ? { holder: decodeHolder(holder) } : {};
  return [{ run, fence, control, state, ready: entries.ready, dueMs, ...held }];
}

function businessOf(run: RunId): string {
  const begin = run.indexOf('/') + 1;
  return run.slice(begin, run.indexOf('/', begin));
}

/** `close` of a scanner never fails. */
function closeUnawaited(pass: IndexPass): void {
  void pass.close();
}
