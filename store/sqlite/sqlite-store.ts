// The store of a single machine: one SQLite file, written by this process alone (data-folder.ts).
//
// Ownership: the store owns its connection; GroupCommit begins and ends its transactions, RunWriter and AssignmentTable write in
// them, RunReader and IndexScanner read between them. All of it happens on the thread of the caller: a COMMIT stops the event loop
// for the time of an fsync, which is what gathers the writes of the next group.
//
// Invariants:
//   Q1  A write is encoded, and so detached from its caller and found to be storable, before it waits for its group.
//   Q2  Once stopped (G4), writes answer `unknown` and everything else throws StoreStoppedError.

import type { DatabaseSync } from 'node:sqlite';
import type { RunId } from '../../flow/run.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import type { Alarm, Execution, InboxEvent } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Assignments, AssignResult } from '../assignments.ts';
import { encodeEvent, encodeHolder } from '../codec.ts';
import { encodeChanges, encodedAlarm } from '../encoded-write.ts';
import type {
  ClaimWrite,
  CommitWrite,
  CreateResult,
  CreateWrite,
  InboxView,
  IndexHit,
  ListPage,
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
import { AssignmentTable } from './assignment-table.ts';
import { GroupCommit, type StoreFailureListener } from './group-commit.ts';
import { IndexScanner } from './index-scanner.ts';
import { RunNumbers } from './run-numbers.ts';
import { RunReader } from './run-reader.ts';
import { RunWriter } from './run-writer.ts';
import { openDatabase } from './schema.ts';

export interface SqliteStoreOptions {
  /** Shards of a store that is created now; a store keeps its number. 16: enough to spread over a few spouts later. */
  readonly shards?: number;
  /** What gathers the writes of one turn. The system's clock by default. */
  readonly clock?: Pick<Clock, 'soon' | 'after' | 'monotonicMs'>;
  /** Writes in one transaction. 512: the event loop stands still for some 5 ms, and an fsync is shared by many. */
  readonly maxGroupWrites?: number;
  /** Hears of each transaction that failed, and once that the store has stopped. Nobody by default. */
  readonly onFailure?: StoreFailureListener;
}

/** The system's clock, but with timers that keep the process alive: it must not end while a write waits for its group. */
const writeClock: NonNullable<SqliteStoreOptions['clock']> = {
  monotonicMs: () => systemClock.monotonicMs(),
  soon: (action) => systemClock.soon(action),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** The disk has failed: restart on one that is sound. */
export class StoreStoppedError extends Error {
  override readonly name = 'StoreStoppedError';
}

const mebibyte = 1024 * 1024;

/** Runs whose executions are read at a time, by whoever wants all of them. */
const executionPageRuns = 100;

export class SqliteStore implements Store, Assignments {
  readonly shards: number;
  readonly #database: DatabaseSync;
  readonly #group: GroupCommit;
  readonly #writer: RunWriter;
  readonly #reader: RunReader;
  readonly #scanner: IndexScanner;
  readonly #assignments: AssignmentTable;
  #closed = false;

  /** Opens or creates the file. Throws DataFolderError when it can't be used. */
  constructor(file: string, options: SqliteStoreOptions = {}) {
    const { database, shards } = openDatabase(file, options.shards ?? 16);
    const numbers = new RunNumbers(database);
    this.shards = shards;
    this.#database = database;
    this.#writer = new RunWriter(database, shards, numbers);
    this.#reader = new RunReader(database, numbers);
    this.#scanner = new IndexScanner(database);
    this.#assignments = new AssignmentTable(database);
    this.#group = new GroupCommit(database, () => numbers.forgetAll(), {
      clock: options.clock ?? writeClock,
      maxGroupWrites: options.maxGroupWrites ?? 512,
      maxPauseMs: 5,
      maxGroupBytes: 32 * mebibyte,
      maxWaitingWrites: 100_000,
      maxWaitingBytes: 256 * mebibyte,
      // 8 MiB: a checkpoint of it takes some ten milliseconds.
      checkpointPages: 2_048,
      onFailure: options.onFailure ?? (() => {}),
    });
  }

  /** Transactions that were committed since the store was opened, and writes in them. */
  get statistics(): { readonly transactions: number; readonly writes: number } {
    const { transactions, writes } = this.#group;
    return { transactions, writes };
  }

  async create(write: CreateWrite): Promise<CreateResult> {
    const { run, writeId, holder, entries, supersedes } = write;
    const epoch = holder ? 1 : 0;
    const changes = encodeChanges(write.changes, epoch);
    const { control } = changes;
    if (!control) throw new Error(`created without control data: ${run}`);
    const row = { run, writeId, epoch, control, holder: holder ? encodeHolder(holder) : null, entries, supersedes };
    return this.#ask(changes.bytes, () => this.#writer.create(row, changes));
  }

  async claim({ run, writeId, expected, holder, entries, changes }: ClaimWrite): Promise<WriteResult> {
    const encoded = encodeChanges(changes, expected.epoch + 1);
    const encodedHolder = encodeHolder(holder);
    return this.#ask(encoded.bytes, () => this.#writer.claim(run, writeId, expected, encodedHolder, entries, encoded));
  }

  async commit({ run, writeId, expected, release, changes }: CommitWrite): Promise<WriteResult> {
    const encoded = encodeChanges(changes, expected.epoch);
    return this.#ask(encoded.bytes, () => this.#writer.commit(run, writeId, expected, release, encoded));
  }

  async post(run: RunId, event: InboxEvent): Promise<PostResult> {
    const bytes = encodeEvent(event);
    return this.#ask(bytes.length, () => this.#writer.post(run, event, bytes));
  }

  async assigned(business: string, itemKey: Uint8Array): Promise<string | undefined> {
    this.#read();
    return this.#assignments.get(business, itemKey);
  }

  async assign(business: string, itemKey: Uint8Array, flow: string): Promise<AssignResult> {
    const apply = (): AssignResult => ({ kind: 'done', flow: this.#assignments.put(business, itemKey, flow) });
    return this.#ask(itemKey.length, apply);
  }

  async load(run: RunId): Promise<StoredRun | undefined> {
    return this.#read().load(run);
  }

  async peek(run: RunId): Promise<RunHead | undefined> {
    return this.#read().peek(run);
  }

  async inbox(run: RunId): Promise<InboxView | undefined> {
    return this.#read().inbox(run);
  }

  async newest(identity: string): Promise<RunId | undefined> {
    return this.#read().newest(identity);
  }

  async scan(request: ScanRequest): Promise<ScanPage> {
    this.#read();
    return this.#scanner.scan(request);
  }

  /** A promotion that isn't stored is not counted; the next pass promotes again. */
  async promote(shard: number, due: readonly IndexHit[]): Promise<number> {
    this.#read();
    if (due.length === 0) return 0;
    return this.#group.ask(
      0,
      () => this.#writer.promote(shard, due),
      () => 0,
    );
  }

  async list(query: RunQuery, limit: number, after?: string): Promise<ListPage> {
    return this.#read().list(query, limit, after);
  }

  async count(query: RunQuery): Promise<readonly StateCount[]> {
    return this.#read().count(query);
  }

  async executions(run: RunId): Promise<readonly Execution[]> {
    return this.#read().executions(run);
  }

  async *allExecutions(query: RunQuery): AsyncIterable<readonly Execution[]> {
    let place: number | undefined = 0;
    while (place !== undefined) {
      const page: ReturnType<RunReader['executionPage']> = this.#read().executionPage(query, executionPageRuns, place);
      yield* page.batches;
      place = page.next;
    }
  }

  /** An alarm that can't be stored is reported by `onFailure` only: whoever raises it has enough trouble. */
  async raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    this.#read();
    const encoded = encodedAlarm(alarm);
    await this.#group.ask(
      encoded.bytes.length,
      () => this.#writer.raise(encoded),
      () => undefined,
    );
  }

  async alarms(limit: number, after?: string): Promise<{ readonly alarms: readonly Alarm[]; readonly next?: string }> {
    return this.#read().alarms(limit, after);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#group.drain();
    this.#database.close();
  }

  #ask<R extends { readonly kind: string }>(bytes: number, apply: () => R): Promise<R | Unknown> {
    if (this.#closed) return Promise.resolve({ kind: 'unknown', cause: 'the store is closed' });
    return this.#group.ask<R | Unknown>(bytes, apply, (cause) => ({ kind: 'unknown', cause }));
  }

  #read(): RunReader {
    if (this.#closed) throw new StoreStoppedError('the store is closed');
    if (this.#group.stopped !== undefined) throw new StoreStoppedError(this.#group.stopped);
    return this.#reader;
  }
}

interface Unknown {
  readonly kind: 'unknown';
  readonly cause: string;
}
