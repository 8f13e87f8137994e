// The store of tests and of the simulation: everything in memory, gone with the process. Several simulated processes may
// share one; closing is theirs to survive.
//
// Ownership: the store owns its rows; callers get and give copies (cells are bytes).
//
// Invariants:
//   M1  A write is checked whole before its first change, and changes without a pause: it is atomic, and never `unknown`.
//   M2  A row is in `#indexed[shard]` exactly when it has an entry.
//   M3  Nothing here waits, rolls dice or reads a clock: the same calls give the same answers.

import type { RunId } from '../../flow/run.ts';
import { identityOf, runParts, shardOf } from '../../flow/run-id.ts';
import { isTerminal } from '../../flow/standing.ts';
import { type Alarm, type Execution, type InboxEvent, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeAlarm, decodeControl, decodeExecutions, decodeHolder, encodeEvent, encodeHolder } from '../codec.ts';
import { type EncodedAlarm, encodeChanges, encodedAlarm, encodedControl } from '../encoded-write.ts';
import {
  alarmPlace,
  alarmPosition,
  beforeAllEntries,
  checkLimit,
  compareKeys,
  entryKey,
  listPlace,
  positionOf,
} from '../paging.ts';
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
import {
  change,
  hasFence,
  head,
  hit,
  isIndexed,
  keyIn,
  type MemoryRow,
  matches,
  pendingEvents,
  stored,
} from './memory-row.ts';

interface MemoryAlarm {
  readonly key: string;
  readonly firstMs: number;
  lastMs: number;
  count: number;
  bytes: Uint8Array;
}

export class MemoryStore implements Store {
  readonly shards: number;
  readonly #rows = new Map<RunId, MemoryRow>();
  readonly #newest = new Map<string, RunId>();
  readonly #indexed: ReadonlyArray<Set<MemoryRow>>;
  readonly #alarms = new Map<string, MemoryAlarm>();

  /** `shards`: 16 by default, enough to spread over the spouts of a small installation. */
  constructor(shards = 16) {
    this.shards = shards;
    this.#indexed = Array.from({ length: shards }, () => new Set());
  }

  async create(write: CreateWrite): Promise<CreateResult> {
    const { run, holder, changes, supersedes } = write;
    const epoch = holder ? 1 : 0;
    const encoded = encodeChanges(changes, epoch);
    if (!encoded.control) throw new Error(`created without control data: ${run}`);
    if (this.#rows.has(run)) return { kind: 'exists' };
    if (supersedes !== undefined && !this.#supersede(supersedes)) return { kind: 'refused' };
    const row: MemoryRow = {
      id: run,
      number: this.#rows.size + 1,
      shard: shardOf(run, this.shards),
      epoch,
      version: 1,
      writeId: write.writeId,
      barrenClaims: epoch,
      control: encoded.control,
      holder: holder && encodeHolder(holder),
      entries: { ...write.entries },
      steps: new Map(),
      fields: new Map(),
      executions: [],
      inbox: new Map(),
    };
    this.#rows.set(run, row);
    this.#noteNewest(run);
    change(row, encoded);
    this.#settle(row, encoded.alarms);
    return { kind: 'done' };
  }

  async claim(write: ClaimWrite): Promise<WriteResult> {
    const encoded = encodeChanges(write.changes, write.expected.epoch + 1);
    const holder = encodeHolder(write.holder);
    const row = this.#rows.get(write.run);
    if (!row || !hasFence(row, write.expected)) return { kind: 'fenced' };
    row.epoch++;
    row.version++;
    row.writeId = write.writeId;
    row.barrenClaims++;
    row.holder = holder;
    row.entries = { ...write.entries };
    change(row, encoded);
    this.#settle(row, encoded.alarms);
    return { kind: 'done' };
  }

  async commit(write: CommitWrite): Promise<WriteResult> {
    const encoded = encodeChanges(write.changes, write.expected.epoch);
    const row = this.#rows.get(write.run);
    if (!row || !hasFence(row, write.expected)) return { kind: 'fenced' };
    row.version++;
    row.writeId = write.writeId;
    row.barrenClaims = 0;
    if (write.release) {
      row.holder = undefined;
      row.entries = { ...write.release };
    }
    change(row, encoded);
    this.#settle(row, encoded.alarms);
    return { kind: 'done' };
  }

  async post(run: RunId, event: InboxEvent): Promise<PostResult> {
    const bytes = encodeEvent(event);
    const row = this.#rows.get(run);
    if (!row) return { kind: 'absent' };
    const holder = row.holder ? { holder: decodeHolder(row.holder) } : {};
    if (row.inbox.has(event.id)) return { kind: 'duplicate', ...holder };
    row.inbox.set(event.id, { arrivedMs: Number(event.arrivedMs), bytes });
    this.#settle(row, []);
    return { kind: 'done', ...holder };
  }

  async load(run: RunId): Promise<StoredRun | undefined> {
    const row = this.#rows.get(run);
    return row && { ...stored(row), inbox: pendingEvents(row) };
  }

  async peek(run: RunId): Promise<RunHead | undefined> {
    const row = this.#rows.get(run);
    return row && head(row);
  }

  async inbox(run: RunId): Promise<InboxView | undefined> {
    const row = this.#rows.get(run);
    return row && { fence: { epoch: row.epoch, version: row.version }, events: pendingEvents(row) };
  }

  async newest(identity: string): Promise<RunId | undefined> {
    return this.#newest.get(identity);
  }

  async scan(request: ScanRequest): Promise<ScanPage> {
    const { shard, kind, untilMs = Number.POSITIVE_INFINITY, after, limit } = request;
    checkLimit(limit);
    const begin = after === undefined ? beforeAllEntries : entryKey(after);
    const found = [];
    for (const row of this.#indexed[shard] ?? []) {
      const key = keyIn(row, kind);
      if (!key || compareKeys(key, begin) <= 0) continue;
      if ((kind === 'timer' || kind === 'lease') && key[0] > untilMs) continue;
      found.push({ row, key });
    }
    found.sort((a, b) => compareKeys(a.key, b.key));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const hits = page.map(({ row }) => hit(row, kind));
    return found.length > page.length && last ? { hits, next: positionOf(last.key) } : { hits };
  }

  async promote(shard: number, due: readonly IndexHit[]): Promise<number> {
    let promoted = 0;
    for (const { run, fence, dueMs } of due) {
      const row = this.#rows.get(run);
      if (
        !row ||
        row.shard !== shard ||
        row.holder ||
        !hasFence(row, fence) ||
        row.entries.timerMs !== dueMs ||
        row.entries.ready
      )
        continue;
      const { state, deadlineMs } = row.control;
      if (state !== State.OPEN && state !== State.ENDING) continue;
      row.entries = { ready: true, timerMs: state === State.OPEN ? Math.max(deadlineMs, dueMs) : dueMs };
      this.#settle(row, []);
      promoted++;
    }
    return promoted;
  }

  async list(query: RunQuery, limit: number, after?: string): Promise<ListPage> {
    checkLimit(limit);
    const place = listPlace(after);
    const runs: Array<ListPage['runs'][number]> = [];
    let last = place;
    // Rows stand in the order of their numbers, since they are only ever added.
    for (const row of this.#rows.values()) {
      if (row.number <= place || !matches(row, query)) continue;
      if (runs.length === limit) return { runs, next: String(last) };
      runs.push(stored(row));
      last = row.number;
    }
    return { runs };
  }

  async count(query: RunQuery): Promise<readonly StateCount[]> {
    const counts = new Map<string, { state: StateCount['state']; reason: StateCount['reason']; runs: number }>();
    for (const row of this.#rows.values()) {
      if (!matches(row, query)) continue;
      const { state, reason } = row.control;
      const count = counts.get(`${state}/${reason}`);
      if (count) count.runs++;
      else counts.set(`${state}/${reason}`, { state, reason, runs: 1 });
    }
    return [...counts.values()].sort((a, b) => a.state - b.state || a.reason - b.reason);
  }

  async executions(run: RunId): Promise<readonly Execution[]> {
    return this.#rows.get(run)?.executions.flatMap(decodeExecutions) ?? [];
  }

  async *allExecutions(query: RunQuery): AsyncIterable<readonly Execution[]> {
    for (const row of this.#rows.values()) {
      if (row.executions.length > 0 && matches(row, query)) yield row.executions.flatMap(decodeExecutions);
    }
  }

  async raise(alarm: Parameters<Store['raise']>[0]): Promise<void> {
    this.#raise(encodedAlarm(alarm));
  }

  async alarms(limit: number, after?: string): Promise<{ readonly alarms: readonly Alarm[]; readonly next?: string }> {
    checkLimit(limit);
    const place = after === undefined ? undefined : alarmPlace(after);
    const sorted = [...this.#alarms.values()].sort(newestFirst);
    const rest = place ? sorted.filter((alarm) => newestFirst(alarm, place) > 0) : sorted;
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const alarms = page.map(({ bytes, firstMs, lastMs, count }) => decodeAlarm(bytes.slice(), firstMs, lastMs, count));
    return rest.length > page.length && last ? { alarms, next: alarmPosition(last) } : { alarms };
  }

  async close(): Promise<void> {}

  /** Whether the run could be superseded; if so, it is. Its fence moves, so that no holder can reopen it meanwhile. */
  #supersede(run: RunId): boolean {
    const row = this.#rows.get(run);
    if (!row || !isTerminal(row.control.state)) return false;
    const control = decodeControl(row.control.bytes);
    if (control.superseded) return false;
    row.control = encodedControl({ ...control, superseded: true });
    row.version++;
    return true;
  }

  #noteNewest(run: RunId): void {
    const identity = identityOf(run);
    const known = this.#newest.get(identity);
    if (!known || runParts(known).generation < runParts(run).generation) this.#newest.set(identity, run);
  }

  /** Ends every change of a row. */
  #settle(row: MemoryRow, alarms: readonly EncodedAlarm[]): void {
    const indexed = this.#indexed[row.shard];
    if (isIndexed(row)) indexed?.add(row);
    else indexed?.delete(row);
    for (const alarm of alarms) this.#raise(alarm);
  }

  #raise({ key, atMs, bytes }: EncodedAlarm): void {
    const alarm = this.#alarms.get(key);
    if (!alarm) {
      this.#alarms.set(key, { key, firstMs: atMs, lastMs: atMs, count: 1, bytes });
      return;
    }
    alarm.lastMs = Math.max(alarm.lastMs, atMs);
    alarm.count++;
    alarm.bytes = bytes;
  }
}

function newestFirst(a: { lastMs: number; key: string }, b: { lastMs: number; key: string }): number {
  if (a.lastMs !== b.lastMs) return b.lastMs - a.lastMs;
  return a.key < b.key ? 1 : a.key > b.key ? -1 : 0;
}
