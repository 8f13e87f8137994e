// Scans of the index: one statement per kind, each answered by one partial index in its order.
//
// Why pages see every entry that stands still (S5): a page is one statement, so one snapshot, and holds all entries from the
// key after which it begins up to the key with which it ends. Pages follow one another without a gap, so a pass covers every
// key; an entry that is there all the time with one key is on the page that covers it. Keys don't change by themselves: an
// entry's key is its level and order or its time, and then the run's number, so it changes only when its run is claimed,
// promoted, let go or moved to another level. An entry that is made or moved during a pass may be missed, or seen twice; the
// next pass finds it.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RunId } from '../../flow/run.ts';
import type { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeHolder } from '../codec.ts';
import { beforeAllEntries, checkLimit, type EntryKey, entryKey, positionOf } from '../paging.ts';
import type { IndexHit, IndexKind, ScanPage, ScanRequest } from '../port.ts';
import { runIdOf } from './run-reader.ts';

interface EntryRow {
  readonly id: number;
  readonly epoch: number;
  readonly version: number;
  readonly holder: Uint8Array | null;
  readonly ready: number;
  readonly due: number;
  readonly level: number;
  readonly place: number;
  readonly input_bytes: number;
  readonly state: State;
  readonly generation: number;
  readonly identity: Uint8Array;
}

const columns = 'id, epoch, version, holder, ready, level, place, input_bytes, state, generation, identity';

export class IndexScanner {
  readonly #ready: StatementSync;
  readonly #timed: Readonly<Record<Exclude<IndexKind, 'ready'>, StatementSync>>;

  constructor(database: DatabaseSync) {
    this.#ready = database.prepare(readyScan);
    this.#timed = {
      timer: database.prepare(timedScan('timer_ms')),
      lease: database.prepare(timedScan('lease_ms')),
      inbox: database.prepare(timedScan('inbox_ms')),
    };
  }

  scan({ shard, kind, untilMs, after, limit }: ScanRequest): ScanPage {
    checkLimit(limit);
    const [first, second, run] = after === undefined ? beforeAllEntries : entryKey(after);
    const until =
      kind === 'inbox'
        ? Number.MAX_SAFE_INTEGER
        : Math.min(untilMs ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    // One more than asked for, to see whether there is a next page.
    const found = (kind === 'ready'
      ? this.#ready.all(shard, first, second, run, limit + 1)
      : this.#timed[kind].all(shard, until, first, run, limit + 1)) as unknown as EntryRow[];
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hits = page.map(hit);
    return found.length > limit && last ? { hits, next: positionOf(keyOf(last, kind)) } : { hits };
  }
}

export const readyScan = `SELECT ${columns}, 0 AS due FROM run
  WHERE shard = ? AND ready = 1 AND (level, place, id) > (?, ?, ?) ORDER BY level, place, id LIMIT ?`;

export function timedScan(column: 'timer_ms' | 'lease_ms' | 'inbox_ms'): string {
  return `SELECT ${columns}, ${column} AS due FROM run
    WHERE shard = ? AND ${column} <= ? AND (${column}, id) > (?, ?) ORDER BY ${column}, id LIMIT ?`;
}

function keyOf(row: EntryRow, kind: IndexKind): EntryKey {
  return kind === 'ready' ? [row.level, row.place, row.id] : [row.due, 0, row.id];
}

function hit(row: EntryRow): IndexHit {
  const run = runIdOf(row);
  return {
    run,
    fence: { epoch: row.epoch, version: row.version },
    control: { business: businessOf(run), level: row.level, order: row.place, inputBytes: row.input_bytes },
    state: row.state,
    ready: row.ready === 1,
    dueMs: row.due,
    ...(row.holder ? { holder: decodeHolder(row.holder) } : {}),
  };
}

function businessOf(run: RunId): string {
  const first = run.indexOf('/') + 1;
  return run.slice(first, run.indexOf('/', first));
}
