// Reading runs. Between two transactions (G2), so a result is one committed state.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FieldValue, IndexEntries, Run, RunId, StepState } from '../../flow/run.ts';
import { latin1 } from '../../flow/run-id.ts';
import type { Alarm, Execution, InboxEvent, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import {
  decodeAlarm,
  decodeControl,
  decodeEvent,
  decodeExecutions,
  decodeField,
  decodeHolder,
  decodeStep,
} from '../codec.ts';
import { alarmPlace, alarmPosition, checkLimit, listPlace } from '../paging.ts';
import type { InboxView, ListPage, RunHead, RunQuery, StateCount, StoredRun } from '../port.ts';
import { identityBytes, type RunNumbers } from './run-numbers.ts';

/** Field bytes on a page of `list`; the page ends early where they are exceeded. */
const maxPageBytes = 16 * 1024 * 1024;

/** The number of a run that isn't there: numbers begin at 1. */
const noRun = 0;

interface RunRow {
  readonly id: number;
  readonly epoch: number;
  readonly version: number;
  readonly write_id: string;
  readonly barren_claims: number;
  readonly holder: Uint8Array | null;
  readonly ready: number;
  readonly timer_ms: number | null;
  readonly lease_ms: number | null;
  readonly inbox_ms: number | null;
  readonly control: Uint8Array;
  readonly generation: number;
  readonly identity: Uint8Array;
}

const runColumns = `id, epoch, version, write_id, barren_claims, holder, ready, timer_ms, lease_ms, inbox_ms, control,
  generation, identity`;

export function runIdOf(row: Pick<RunRow, 'generation' | 'identity'>): RunId {
  return `${row.generation}/${latin1(row.identity)}` as RunId;
}

export class RunReader {
  readonly #database: DatabaseSync;
  readonly #numbers: RunNumbers;
  readonly #run: StatementSync;
  readonly #cells: StatementSync;
  readonly #inbox: StatementSync;
  readonly #newest: StatementSync;
  readonly #executions: StatementSync;
  readonly #alarms: StatementSync;
  /** Statements of queries, by their text: as many as there are combinations of filters. */
  readonly #queries = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, numbers: RunNumbers) {
    this.#database = database;
    this.#numbers = numbers;
    this.#run = database.prepare(`SELECT ${runColumns} FROM run WHERE id = ?`);
    this.#cells = database.prepare('SELECT kind, name, value FROM cell WHERE run = ?');
    this.#inbox = database.prepare('SELECT event FROM inbox WHERE run = ? AND event IS NOT NULL ORDER BY id');
    this.#newest = database.prepare('SELECT max(generation) AS generation FROM run WHERE identity = ?');
    this.#executions = database.prepare('SELECT batch FROM execution WHERE run = ? ORDER BY version');
    this.#alarms = database.prepare(
      `SELECT key, first_ms, last_ms, count, alarm FROM alarm WHERE (last_ms, key) < (?, ?)
       ORDER BY last_ms DESC, key DESC LIMIT ?`,
    );
  }

  load(run: RunId): StoredRun | undefined {
    const row = this.#row(run);
    if (!row) return undefined;
    return { ...this.#stored(row, run), inbox: row.inbox_ms === null ? [] : this.#events(row.id) };
  }

  peek(run: RunId): RunHead | undefined {
    const row = this.#row(run);
    return row && head(row);
  }

  inbox(run: RunId): InboxView | undefined {
    const row = this.#row(run);
    return row && { fence: { epoch: row.epoch, version: row.version }, events: this.#events(row.id) };
  }

  newest(identity: string): RunId | undefined {
    const generation = this.#newest.get(identityBytes(identity))?.['generation'];
    return typeof generation === 'number' ? (`${generation}/${identity}` as RunId) : undefined;
  }

  list(query: RunQuery, limit: number, after: string | undefined): ListPage {
    checkLimit(limit);
    // One more than asked for, to see whether there is a next page.
    const rows = this.#page(query, limit + 1, listPlace(after));
    const runs: Array<ListPage['runs'][number]> = [];
    let bytes = 0;
    let last = 0;
    for (const row of rows) {
      if (runs.length === limit || bytes > maxPageBytes) return { runs, next: String(last) };
      const stored = this.#stored(row, runIdOf(row));
      for (const field of stored.run.fields.values()) bytes += field.bytes.length;
      runs.push(stored);
      last = row.id;
    }
    return { runs };
  }

  count(query: RunQuery): StateCount[] {
    const { sql, values } = this.#filters(query);
    const states = query.states.length === 0 ? '' : `AND state IN (${query.states.map(() => '?').join()})`;
    const counted = this.#query(
      `SELECT state, reason, count(*) AS runs FROM run WHERE 1 ${states} ${sql}
       GROUP BY state, reason ORDER BY state, reason`,
    ).all(...query.states, ...values);
    return counted as unknown as StateCount[];
  }

  executions(run: RunId): Execution[] {
    const number = this.#numbers.find(run);
    return number === undefined ? [] : this.#executionsOf(number);
  }

  /** Executions of runs that match, run by run; `next` is where to go on. */
  executionPage(query: RunQuery, runs: number, place: number): { batches: Execution[][]; next: number | undefined } {
    const rows = this.#page(query, runs, place);
    const batches = rows.map(({ id }) => this.#executionsOf(id)).filter((batch) => batch.length > 0);
    return { batches, next: rows.length < runs ? undefined : rows.at(-1)?.id };
  }

  alarms(limit: number, after: string | undefined): { readonly alarms: readonly Alarm[]; readonly next?: string } {
    checkLimit(limit);
    const { lastMs, key } = after === undefined ? { lastMs: Number.MAX_SAFE_INTEGER, key: '' } : alarmPlace(after);
    const rows = this.#alarms.all(lastMs, key, limit + 1) as unknown as Array<{
      key: string;
      first_ms: number;
      last_ms: number;
      count: number;
      alarm: Uint8Array;
    }>;
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const alarms = page.map((row) => decodeAlarm(row.alarm, row.first_ms, row.last_ms, row.count));
    if (rows.length <= limit || !last) return { alarms };
    return { alarms, next: alarmPosition({ lastMs: last.last_ms, key: last.key }) };
  }

  #row(run: RunId): RunRow | undefined {
    const number = this.#numbers.find(run);
    return number === undefined ? undefined : (this.#run.get(number) as unknown as RunRow);
  }

  #stored(row: RunRow, run: RunId): Omit<StoredRun, 'inbox'> {
    const { control, ...rest } = head(row);
    return { ...rest, run: this.#state(row.id, run, control), entries: entries(row), barrenClaims: row.barren_claims };
  }

  #state(number: number, id: RunId, control: Run['control']): Run {
    const steps = new Map<string, StepState>();
    const fields = new Map<string, FieldValue>();
    for (const cell of this.#cells.all(number) as unknown as Array<{ kind: number; name: string; value: Uint8Array }>) {
      if (cell.kind === 1) steps.set(cell.name, decodeStep(cell.value));
      else fields.set(cell.name, decodeField(cell.value));
    }
    return { id, control, steps, fields };
  }

  #events(number: number): InboxEvent[] {
    return this.#inbox.all(number).map((row) => decodeEvent(row['event'] as Uint8Array));
  }

  #executionsOf(number: number): Execution[] {
    return this.#executions.all(number).flatMap((row) => decodeExecutions(row['batch'] as Uint8Array));
  }

  /** Up to `limit` rows after `place`, in the order of their numbers. */
  #page(query: RunQuery, limit: number, place: number): RunRow[] {
    const { sql, values } = this.#filters(query);
    if (query.states.length === 0) {
      const all = this.#query(`SELECT ${runColumns} FROM run WHERE id > ? ${sql} ORDER BY id LIMIT ?`);
      return all.all(place, ...values, limit) as unknown as RunRow[];
    }
    // State by state, merged: the index on (state, id) then gives each in order, however rare the state is.
    const one = this.#query(`SELECT ${runColumns} FROM run WHERE state = ? AND id > ? ${sql} ORDER BY id LIMIT ?`);
    const rows = distinct(query.states).flatMap(
      (state) => one.all(state, place, ...values, limit) as unknown as RunRow[],
    );
    return rows.sort((a, b) => a.id - b.id).slice(0, limit);
  }

  /** Conditions on `identity`, which is `business/flow/key`: business and flow contain no slash; and on the parent's number. */
  #filters({ business, flow, parent }: RunQuery): { sql: string; values: Array<Uint8Array | number> } {
    let sql = '';
    const values: Array<Uint8Array | number> = [];
    if (business !== undefined) {
      const prefix = identityBytes(`${business}/`);
      sql += ' AND substr(identity, 1, ?) = ?';
      values.push(prefix.length, prefix);
    }
    if (flow !== undefined) {
      const part = identityBytes(`/${flow}/`);
      sql += ` AND substr(identity, instr(identity, x'2f'), ?) = ?`;
      values.push(part.length, part);
    }
    if (parent !== undefined) {
      sql += ' AND parent = ?';
      values.push(this.#numbers.find(parent) ?? noRun);
    }
    return { sql, values };
  }

  #query(sql: string): StatementSync {
    let statement = this.#queries.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      this.#queries.set(sql, statement);
    }
    return statement;
  }
}

function head(row: RunRow): RunHead {
  return {
    fence: { epoch: row.epoch, version: row.version },
    writeId: row.write_id,
    control: decodeControl(row.control),
    ...(row.holder ? { holder: decodeHolder(row.holder) } : {}),
  };
}

function entries(row: RunRow): IndexEntries {
  return {
    ready: row.ready === 1,
    ...(row.timer_ms === null ? {} : { timerMs: row.timer_ms }),
    ...(row.lease_ms === null ? {} : { leaseMs: row.lease_ms }),
  };
}

function distinct(states: readonly State[]): State[] {
  return [...new Set(states)];
}
