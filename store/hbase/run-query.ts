// Queries over all runs: shard by shard in the order of the row keys, which doesn't change. A page ends where `limit` is reached or the
// fields have become many bytes.
//
// What is filtered by business (and flow) is a range of keys; a single state is filtered by the region servers; the rest here. Only
// the children of a run have an index: everything else reads as many rows as the range has.

import type { Execution, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeExecutions } from '../codec.ts';
import { checkLimit } from '../paging.ts';
import type { ListPage, RunQuery, StateCount } from '../port.ts';
import { latin1Bytes, type RunId } from '../run-name.ts';
import { columns, valueOf } from './cells.ts';
import { columnEquals } from './client/filters.ts';
import type { HBase, Row } from './client/port.ts';
import { column, family, reasonIn, stateIn } from './columns.ts';
import {
  afterPrefix,
  afterRow,
  behindKind,
  childPrefix,
  childSuffixAt,
  kindPrefix,
  RunKeys,
  readRunSuffix,
  rowKind,
} from './row-key.ts';
import { readRun } from './run-row.ts';

/** Field bytes on a page of `list`; it ends early where they are exceeded. */
const maxPageBytes = 16 * 1024 * 1024;

/** Whole runs that are read at a time: each may have some megabytes. */
const runsPerRead = 32;

/** Runs whose executions are read at a time. */
const executionRuns = 16;

/** Shards that are counted at a time. */
const countedShards = 4;

/** Rows of a batch of keys. */
const keysPerBatch = 1_000;

const stateColumns = columns([column.state, column.reason]);

interface FoundRun {
  readonly run: RunId;
  /** Its row's key. */
  readonly key: Buffer;
}

export class RunQueries {
  readonly #hbase: HBase;
  readonly #table: string;
  readonly #shards: number;

  constructor(hbase: HBase, table: string, shards: number) {
    this.#hbase = hbase;
    this.#table = table;
    this.#shards = shards;
  }

  async list(query: RunQuery, limit: number, after: string | undefined): Promise<ListPage> {
    checkLimit(limit);
    const runs: Array<ListPage['runs'][number]> = [];
    let bytes = 0;
    let last: Buffer | undefined;
    for await (const found of this.#find(query, limit + 1, this.#place(after))) {
      for (let begin = 0; begin < found.length; begin += runsPerRead) {
        const some = found.slice(begin, begin + runsPerRead);
        const rows = await this.#hbase.getMany(
          this.#table,
          some.map(({ key }) => key),
        );
        for (const [index, { run, key }] of some.entries()) {
          const stored = readRun(run, rows[index]);
          if (!stored || !matches(query, run, stored.run.control.status.state)) continue;
          if (last && (runs.length === limit || bytes > maxPageBytes))
            return { runs, next: last.toString('base64url') };
          for (const field of stored.run.fields.values()) bytes += field.bytes.length;
          runs.push(stored);
          last = key;
        }
      }
    }
    return { runs };
  }

  async count(query: RunQuery): Promise<readonly StateCount[]> {
    const counts = new Map<string, { state: StateCount['state']; reason: StateCount['reason']; runs: number }>();
    const note = (row: Row | undefined, run: RunId) => {
      const [stateCell, reasonCell] = row ? [valueOf(row, column.state), valueOf(row, column.reason)] : [];
      if (!stateCell || !reasonCell) return;
      const [state, reason] = [stateIn(stateCell), reasonIn(reasonCell)];
      if (!matches(query, run, state)) return;
      const count = counts.get(`${state}/${reason}`);
      if (count) count.runs++;
      else counts.set(`${state}/${reason}`, { state, reason, runs: 1 });
    };
    if (query.parent === undefined) await this.#countShards(query, note);
    else await this.#countChildren(query, note);
    return [...counts.values()].sort((a, b) => a.state - b.state || a.reason - b.reason);
  }

  async executions(run: RunId): Promise<Execution[]> {
    const prefix = new RunKeys(run, this.#shards).executions;
    const executions: Execution[] = [];
    for await (const rows of this.#rows(prefix, afterPrefix(prefix), keysPerBatch)) {
      for (const row of rows) {
        const batch = valueOf(row, column.value);
        if (batch) executions.push(...decodeExecutions(batch));
      }
    }
    return executions;
  }

  async *allExecutions(query: RunQuery): AsyncIterable<readonly Execution[]> {
    for await (const found of this.#find(query, keysPerBatch, undefined)) {
      for (let begin = 0; begin < found.length; begin += executionRuns) {
        const some = found.slice(begin, begin + executionRuns);
        const batches = await Promise.all(some.map(({ run }) => this.executions(run)));
        for (const batch of batches) if (batch.length > 0) yield batch;
      }
    }
  }

  /** Runs that may match, in the order of their rows, in batches; the states were looked at where that is cheap. */
  async *#find(query: RunQuery, batch: number, after: Buffer | undefined): AsyncIterable<FoundRun[]> {
    const firstShard = after ? Number.parseInt(after.toString('latin1', 0, behindKind - 1), 16) : 0;
    for (let shard = firstShard; shard < this.#shards; shard++) {
      const place = shard === firstShard ? after : undefined;
      yield* query.parent === undefined
        ? this.#findRuns(query, shard, batch, place)
        : this.#findChildren(query.parent, shard, batch, place);
    }
  }

  async *#findRuns(
    query: RunQuery,
    shard: number,
    batch: number,
    after: Buffer | undefined,
  ): AsyncIterable<FoundRun[]> {
    for await (const rows of this.#stateRows(query, shard, batch, after)) {
      const found = rows.flatMap((row) => {
        const { run } = readRunSuffix(row.row, behindKind);
        const state = valueOf(row, column.state);
        return state && matches(query, run, stateIn(state)) ? [{ run, key: Buffer.from(row.row) }] : [];
      });
      if (found.length > 0) yield found;
    }
  }

  async *#findChildren(
    parent: RunId,
    shard: number,
    batch: number,
    after: Buffer | undefined,
  ): AsyncIterable<FoundRun[]> {
    const prefix = childPrefix(shard, parent);
    const begin = after ? afterRow(Buffer.concat([prefix, after.subarray(behindKind)])) : prefix;
    for await (const rows of this.#rows(begin, afterPrefix(prefix), batch)) {
      yield rows.map(({ row }) => {
        const { run } = readRunSuffix(row, childSuffixAt);
        return { run, key: new RunKeys(run, this.#shards).row };
      });
    }
  }

  async #countShards(query: RunQuery, note: (row: Row, run: RunId) => void): Promise<void> {
    let next = 0;
    const worker = async () => {
      for (let shard = next++; shard < this.#shards; shard = next++) {
        for await (const rows of this.#stateRows(query, shard, keysPerBatch, undefined)) {
          for (const row of rows) note(row, readRunSuffix(row.row, behindKind).run);
        }
      }
    };
    await Promise.all(Array.from({ length: countedShards }, worker));
  }

  async #countChildren(query: RunQuery, note: (row: Row | undefined, run: RunId) => void): Promise<void> {
    for await (const found of this.#find(query, keysPerBatch, undefined)) {
      const keys = found.map(({ key }) => key);
      const rows = await this.#hbase.getMany(this.#table, keys, { columns: stateColumns });
      for (const [index, { run }] of found.entries()) note(rows[index], run);
    }
  }

  /** State and reason of the runs of a shard, those of other business lines left out. */
  #stateRows(query: RunQuery, shard: number, batch: number, after: Buffer | undefined): AsyncIterable<readonly Row[]> {
    const { business, flow, states } = query;
    const kind = kindPrefix(shard, rowKind.run);
    const named = business === undefined ? '' : flow === undefined ? `${business}/` : `${business}/${flow}/`;
    const prefix = Buffer.concat([kind, latin1Bytes(named)]);
    const begin = after && after.compare(prefix) >= 0 ? afterRow(after) : prefix;
    const [state] = states;
    const filter =
      states.length === 1 && state !== undefined ? columnEquals(family, column.state, Buffer.of(state)) : undefined;
    return this.#rows(begin, afterPrefix(prefix), batch, { columns: stateColumns, ...(filter && { filter }) });
  }

  async *#rows(
    startRow: Buffer,
    stopRow: Buffer,
    batch: number,
    more: Pick<Parameters<HBase['scan']>[1], 'columns' | 'filter'> = {},
  ): AsyncIterable<readonly Row[]> {
    if (startRow.compare(stopRow) >= 0) return;
    const scanner = this.#hbase.scan(this.#table, { startRow, stopRow, batch, ...more });
    try {
      for (let rows = await scanner.next(); rows.length > 0; rows = await scanner.next()) yield rows;
    } finally {
      await scanner.close();
    }
  }

  #place(after: string | undefined): Buffer | undefined {
    if (after === undefined) return undefined;
    const key = Buffer.from(after, 'base64url');
    const shard = /^([0-9a-f]{4})r/.exec(key.toString('latin1', 0, behindKind))?.[1];
    if (shard !== undefined && Number.parseInt(shard, 16) < this.#shards) return key;
    throw new RangeError(`not a page of this store: ${after}`);
  }
}

/** Who started it isn't looked at: the rows that lead to a child are its parent's. */
function matches(query: RunQuery, run: RunId, state: State): boolean {
  if (query.states.length > 0 && !query.states.includes(state)) return false;
  if (query.business === undefined && query.flow === undefined) return true;
  const businessAt = run.indexOf('/') + 1;
  const flowAt = run.indexOf('/', businessAt) + 1;
  if (query.business !== undefined && query.business !== run.slice(businessAt, flowAt - 1)) return false;
  return query.flow === undefined || query.flow === run.slice(flowAt, run.indexOf('/', flowAt));
}
