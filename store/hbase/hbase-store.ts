// The store of a cluster: one table of HBase, used by many processes at once.
//
// Ownership: nothing here owns a row. What is true stands in HBase; every change is conditional on what it was decided by. What this
// process remembers (KnownRuns, low waters, counts of alarms) only saves reads, except that a count belongs to its column.
//
// Invariants:
//   B1  A write is encoded, and so detached from its caller and found to be storable, before it waits for its group.
//   B2  Writes of one shard go through its one queue; so within this process they are decided in the order in which they were asked.
//   B3  Once closed, writes answer `unknown` and everything else throws.

import { randomBytes } from 'node:crypto';
import type { RunId } from '../../flow/run.ts';
import { shardOf } from '../../flow/run-id.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import type { Alarm, Execution, InboxEvent } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Assignments, AssignResult } from '../assignments.ts';
import { encodeEvent, encodeHolder } from '../codec.ts';
import { encodedAlarm } from '../encoded-write.ts';
import type {
  ClaimWrite,
  CommitWrite,
  CreateResult,
  InboxView,
  IndexHit,
  ListPage,
  CreateWrite as NewRunWrite,
  PostResult,
  RunHead,
  RunQuery,
  ScanPage,
  ScanRequest,
  StateCount,
  Store,
  StoredRun,
  WriteResult,
} from '../port.ts';
import { AlarmLedger } from './alarm-ledger.ts';
import { AlarmReader } from './alarm-reader.ts';
import { columns, valueOf } from './cells.ts';
import type { HBase } from './client/port.ts';
import { column } from './columns.ts';
import { IndexScanner } from './index-scanner.ts';
import { assignmentRow, RunKeys, shardOfName } from './row-key.ts';
import { KnownRuns } from './run-facts.ts';
import { RunQueries } from './run-query.ts';
import { RunReader } from './run-reader.ts';
import { rowChanges } from './run-row.ts';
import { type QueuedWrite, type QueueLoad, type RowStore, ShardQueue } from './shard-queue.ts';
import { openTable } from './table.ts';
import { AlarmWrite } from './writes/alarm-write.ts';
import { AssignmentWrite } from './writes/assignment-write.ts';
import { CreateWrite } from './writes/create-write.ts';
import { type FencedChange, FencedWrite } from './writes/fenced-write.ts';
import { PostWrite } from './writes/post-write.ts';
import { Promotion } from './writes/promotion.ts';
import type { Answering, WriteMemory } from './writes/write-memory.ts';

export interface HBaseStoreOptions {
  /** The caller's: it outlives the store. */
  readonly hbase: HBase;
  readonly table: string;
  /** Refuses a table with another number of shards. Any by default: the table says it. */
  readonly shards?: number;
  /** The system's by default. */
  readonly clock?: Clock;
  /** Writes in one call. 50 by default: see ShardQueueOptions. */
  readonly maxGroupWrites?: number;
  /** Writes that wait or are under way, of all shards; more are `unknown` at once. 100,000 by default: seconds of work. */
  readonly maxWaitingWrites?: number;
  /** Payload bytes of the writes that wait. 256 MiB by default: as much as a dispatch holds of runs. */
  readonly maxWaitingBytes?: number;
  /** Hears why a call failed, whose writes are `unknown` now. Nobody by default. */
  readonly onFailure?: (cause: string) => void;
  /** Scans of the index that wait for their next page. 256 by default: a region server keeps something for each. */
  readonly maxOpenScans?: number;
  /** How long one waits, in ms. 30,000 by default: longer than a spout holds a page for want of room, mostly. */
  readonly scanIdleMs?: number;
  /** How long an entry that another process wrote can stay hidden behind a low water, in ms. 60,000 by default: see low-water.ts. */
  readonly maxHiddenMs?: number;
}

/** The store is closed. */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError';
}

const mebibyte = 1024 * 1024;
const nobody = new Uint8Array();

/** All that decides about a write, of whichever row. */
const decisiveColumns = columns([
  column.fence,
  column.write,
  column.holder,
  column.entries,
  column.control,
  column.inbox,
  column.value,
]);

/** Checks the table and its servers. Throws StoreTableError when they can't be used, HBaseFailure when they don't answer. */
export async function openHBaseStore(options: HBaseStoreOptions): Promise<HBaseStore> {
  return new HBaseStore(options, await openTable(options.hbase, options.table, options.shards));
}

export class HBaseStore implements Store, Assignments {
  readonly shards: number;
  readonly #hbase: HBase;
  readonly #table: string;
  readonly #known = new KnownRuns();
  readonly #memory: WriteMemory;
  readonly #queues: readonly ShardQueue[];
  readonly #reader: RunReader;
  readonly #queries: RunQueries;
  readonly #alarms: AlarmReader;
  readonly #scanner: IndexScanner;
  /** Posts that no attempt has taken up yet, by their run: others join them. */
  readonly #posts = new Map<RunId, PostWrite>();
  #closed = false;

  /** `shards` as the table has them: see openHBaseStore. */
  constructor(options: HBaseStoreOptions, shards: number) {
    const { hbase, table, clock = systemClock, onFailure = () => {}, maxHiddenMs = 60_000 } = options;
    this.shards = shards;
    this.#hbase = hbase;
    this.#table = table;
    this.#reader = new RunReader(hbase, table, shards, this.#known);
    this.#queries = new RunQueries(hbase, table, shards);
    this.#alarms = new AlarmReader(hbase, table, shards);
    const { maxOpenScans: maxOpen = 256, scanIdleMs: idleMs = 30_000 } = options;
    const scans = { hbase, table, shards, clock, maxOpen, idleMs, maxHiddenMs, quickMs: 20 };
    const scanner = new IndexScanner(scans);
    this.#scanner = scanner;
    this.#memory = { known: this.#known, noteIndexRows: (rows) => scanner.noteWritten(rows) };
    const { maxWaitingWrites: maxWrites = 100_000, maxWaitingBytes: maxBytes = 256 * mebibyte } = options;
    const load: QueueLoad = { writes: 0, bytes: 0, maxWrites, maxBytes };
    const queue = {
      clock,
      load,
      onFailure,
      maxGroupWrites: options.maxGroupWrites ?? 50,
      maxGroupBytes: 2 * mebibyte,
      maxTries: 16,
    };
    const rows: RowStore = {
      read: (keys) => hbase.getMany(table, keys, { columns: decisiveColumns }),
      change: (groups) => hbase.mutateRows(table, groups),
    };
    const newColumn = () => randomBytes(6).toString('hex');
    this.#queues = Array.from(
      { length: shards },
      (_, shard) => new ShardQueue(rows, new AlarmLedger(shard, newColumn), queue),
    );
  }

  async create(write: NewRunWrite): Promise<CreateResult> {
    const { run, writeId, holder, entries, supersedes } = write;
    const epoch = holder ? 1 : 0;
    const changes = rowChanges(write.changes, epoch);
    const { control } = changes;
    if (!control) throw new Error(`created without control data: ${run}`);
    const held = holder ? encodeHolder(holder) : nobody;
    const created = { run, writeId, epoch, control, holder: held, entries: { ...entries }, changes, supersedes };
    const keys = new RunKeys(run, this.shards);
    return this.#ask<CreateResult>(
      keys.shard,
      (answering) => new CreateWrite(created, keys, this.shards, this.#memory, answering),
    );
  }

  async claim({ run, writeId, expected, holder, entries, changes }: ClaimWrite): Promise<WriteResult> {
    return this.#fenced({
      run,
      writeId,
      expected: { ...expected },
      next: { epoch: expected.epoch + 1, version: expected.version + 1 },
      barrenClaims: 'raise',
      changes: rowChanges(changes, expected.epoch + 1),
      hold: { holder: encodeHolder(holder), entries: { ...entries } },
    });
  }

  async commit({ run, writeId, expected, release, changes }: CommitWrite): Promise<WriteResult> {
    return this.#fenced({
      run,
      writeId,
      expected: { ...expected },
      next: { epoch: expected.epoch, version: expected.version + 1 },
      barrenClaims: 'clear',
      changes: rowChanges(changes, expected.epoch),
      hold: release && { holder: nobody, entries: { ...release } },
    });
  }

  async post(run: RunId, event: InboxEvent): Promise<PostResult> {
    const bytes = encodeEvent(event);
    const { id, arrivedMs } = event;
    const keys = new RunKeys(run, this.shards);
    return new Promise<PostResult>((resolve, reject) => {
      if (this.#closed) {
        resolve(closedAnswer);
        return;
      }
      const posted = { event: { id, arrivedMs }, bytes, answering: { resolve, reject } };
      const queue = this.#queue(keys.shard);
      if (queue.mayGrow(bytes.length) && this.#posts.get(run)?.add(posted)) {
        queue.grew(bytes.length);
        return;
      }
      const write = new PostWrite(`post/${run}`, posted, keys, this.#memory, () => {
        if (this.#posts.get(run) === write) this.#posts.delete(run);
      });
      this.#posts.set(run, write);
      queue.add(write);
    });
  }

  async assigned(business: string, itemKey: Uint8Array): Promise<string | undefined> {
    this.#checkOpen();
    const row = await this.#hbase.get(this.#table, assignmentRow(business, itemKey, this.shards));
    return row && valueOf(row, column.value)?.toString();
  }

  async assign(business: string, itemKey: Uint8Array, flow: string): Promise<AssignResult> {
    const row = assignmentRow(business, itemKey, this.shards);
    const shard = Number.parseInt(row.toString('latin1', 0, 4), 16);
    return this.#ask<AssignResult>(shard, (answering) => new AssignmentWrite(row, flow, answering));
  }

  async load(run: RunId): Promise<StoredRun | undefined> {
    this.#checkOpen();
    return this.#reader.load(run);
  }

  async peek(run: RunId): Promise<RunHead | undefined> {
    this.#checkOpen();
    return this.#reader.peek(run);
  }

  async inbox(run: RunId): Promise<InboxView | undefined> {
    this.#checkOpen();
    return this.#reader.inbox(run);
  }

  async newest(identity: string): Promise<RunId | undefined> {
    this.#checkOpen();
    return this.#reader.newest(identity);
  }

  async scan(request: ScanRequest): Promise<ScanPage> {
    this.#checkOpen();
    return this.#scanner.scan(request);
  }

  /** A promotion that nobody knows the end of isn't counted; the next pass promotes again. */
  async promote(shard: number, due: readonly IndexHit[]): Promise<number> {
    this.#checkOpen();
    const own = due.filter(({ run }) => shardOf(run, this.shards) === shard);
    const promoted = await Promise.all(
      own.map(
        (hit) =>
          new Promise<boolean>((resolve, reject) => {
            const keys = new RunKeys(hit.run, this.shards);
            this.#queue(shard).add(new Promotion(hit, keys, this.#memory, { resolve, reject }));
          }),
      ),
    );
    return promoted.filter(Boolean).length;
  }

  async list(query: RunQuery, limit: number, after?: string): Promise<ListPage> {
    this.#checkOpen();
    return this.#queries.list(query, limit, after);
  }

  async count(query: RunQuery): Promise<readonly StateCount[]> {
    this.#checkOpen();
    return this.#queries.count(query);
  }

  async executions(run: RunId): Promise<readonly Execution[]> {
    this.#checkOpen();
    return this.#queries.executions(run);
  }

  allExecutions(query: RunQuery): AsyncIterable<readonly Execution[]> {
    this.#checkOpen();
    return this.#queries.allExecutions(query);
  }

  /** An alarm that can't be stored is reported by `onFailure` only: whoever raises it has enough trouble. */
  async raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    this.#checkOpen();
    const raised = { ...encodedAlarm(alarm), shared: true };
    const shard = shardOfName(raised.key, this.shards);
    await new Promise<void>((resolve, reject) => {
      this.#queue(shard).add(new AlarmWrite(raised, { resolve, reject }));
    });
  }

  async alarms(limit: number, after?: string): Promise<{ readonly alarms: readonly Alarm[]; readonly next?: string }> {
    this.#checkOpen();
    return this.#alarms.page(limit, after);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#queues.map((queue) => queue.drained()));
    await this.#scanner.close();
  }

  #fenced(change: FencedChange): Promise<WriteResult> {
    const keys = new RunKeys(change.run, this.shards);
    return this.#ask<WriteResult>(keys.shard, (answering) => new FencedWrite(change, keys, this.#memory, answering));
  }

  #ask<Result extends { readonly kind: string }>(
    shard: number,
    write: (answering: Answering<Result | Unknown>) => QueuedWrite,
  ): Promise<Result | Unknown> {
    if (this.#closed) return Promise.resolve(closedAnswer);
    return new Promise((resolve, reject) => this.#queue(shard).add(write({ resolve, reject })));
  }

  #queue(shard: number): ShardQueue {
    const queue = this.#queues[shard];
    if (!queue) throw new RangeError(`shard ${shard}: the store has ${this.shards}`);
    return queue;
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreClosedError('the store is closed');
  }
}

interface Unknown {
  readonly kind: 'unknown';
  readonly cause: string;
}

const closedAnswer: Unknown = { kind: 'unknown', cause: 'the store is closed' };
