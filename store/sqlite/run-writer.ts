// What each kind of write does to the tables. Runs inside a transaction of GroupCommit.
//
// Invariants:
//   W1  The first statement of a claim or commit is the UPDATE that compares the fence; when it changes no row, nothing else
//       is done. So a write that is refused needs no rollback.
//   W2  `run.inbox_ms` is the arrival of the run's first waiting event, or null.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { IndexEntries, RunId } from '../../flow/run.ts';
import { identityOf, runParts, shardOf } from '../../flow/run-id.ts';
import { isTerminal } from '../../flow/standing.ts';
import { type InboxEvent, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeControl, decodeHolder } from '../codec.ts';
import { type EncodedAlarm, type EncodedChanges, type EncodedControl, encodedControl } from '../encoded-write.ts';
import type { CreateResult, Fence, IndexHit, PostResult, WriteResult } from '../port.ts';
import { identityBytes, type RunNumbers } from './run-numbers.ts';

type Value = Uint8Array | string | number | null;

const cellKind = { step: 1, field: 2 } as const;

const claimColumns = `epoch = epoch + 1, version = version + 1, write_id = ?, barren_claims = barren_claims + 1,
  holder = ?, ready = ?, timer_ms = ?, lease_ms = ?`;
const commitColumns = 'version = version + 1, write_id = ?, barren_claims = 0';
const releaseColumns = `${commitColumns}, holder = NULL, ready = ?, timer_ms = ?, lease_ms = ?`;
const controlColumns = 'control = ?, level = ?, place = ?, deadline_ms = ?, input_bytes = ?, state = ?, reason = ?';

function controlValues(control: EncodedControl): Value[] {
  const { bytes, level, order, deadlineMs, inputBytes, state, reason } = control;
  return [bytes, level, order, deadlineMs, inputBytes, state, reason];
}

function entryValues({ ready, timerMs, leaseMs }: IndexEntries): Value[] {
  return [ready ? 1 : 0, timerMs ?? null, leaseMs ?? null];
}

/** One compare-and-set of a run's row, with and without new control data. */
class FencedUpdate {
  readonly #plain: StatementSync;
  readonly #withControl: StatementSync;

  constructor(database: DatabaseSync, columns: string) {
    const where = 'WHERE id = ? AND epoch = ? AND version = ?';
    this.#plain = database.prepare(`UPDATE run SET ${columns} ${where}`);
    this.#withControl = database.prepare(`UPDATE run SET ${columns}, ${controlColumns} ${where}`);
  }

  /** Whether the fence was the expected one. */
  run(number: number, expected: Fence, values: readonly Value[], control: EncodedControl | undefined): boolean {
    const { epoch, version } = expected;
    const result = control
      ? this.#withControl.run(...values, ...controlValues(control), number, epoch, version)
      : this.#plain.run(...values, number, epoch, version);
    return result.changes !== 0;
  }
}

export interface NewRow {
  readonly run: RunId;
  readonly writeId: string;
  readonly epoch: number;
  readonly control: EncodedControl;
  readonly holder: Uint8Array | null;
  readonly entries: IndexEntries;
  readonly supersedes: RunId | undefined;
}

export class RunWriter {
  readonly #shards: number;
  readonly #numbers: RunNumbers;
  readonly #insert: StatementSync;
  readonly #claim: FencedUpdate;
  readonly #commit: FencedUpdate;
  readonly #release: FencedUpdate;
  readonly #control: StatementSync;
  readonly #holder: StatementSync;
  readonly #supersede: StatementSync;
  readonly #putCell: StatementSync;
  readonly #removeCell: StatementSync;
  readonly #putExecutions: StatementSync;
  readonly #putEvent: StatementSync;
  readonly #consumeEvent: StatementSync;
  readonly #noteArrival: StatementSync;
  readonly #noteConsumed: StatementSync;
  readonly #promote: StatementSync;
  readonly #raise: StatementSync;

  constructor(database: DatabaseSync, shards: number, numbers: RunNumbers) {
    this.#shards = shards;
    this.#numbers = numbers;
    this.#insert = database.prepare(
      `INSERT INTO run (epoch, version, write_id, barren_claims, holder, ready, timer_ms, lease_ms,
         control, level, place, deadline_ms, input_bytes, state, reason, shard, generation, identity, parent)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#claim = new FencedUpdate(database, claimColumns);
    this.#commit = new FencedUpdate(database, commitColumns);
    this.#release = new FencedUpdate(database, releaseColumns);
    this.#control = database.prepare('SELECT control FROM run WHERE id = ?');
    this.#holder = database.prepare('SELECT holder FROM run WHERE id = ?');
    this.#supersede = database.prepare(`UPDATE run SET version = version + 1, ${controlColumns} WHERE id = ?`);
    this.#putCell = database.prepare('INSERT OR REPLACE INTO cell (run, kind, name, value) VALUES (?, ?, ?, ?)');
    this.#removeCell = database.prepare('DELETE FROM cell WHERE run = ? AND kind = ? AND name = ?');
    this.#putExecutions = database.prepare('INSERT INTO execution (run, version, batch) VALUES (?, ?, ?)');
    this.#putEvent = database.prepare(
      'INSERT INTO inbox (run, event_id, arrived_ms, event) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#consumeEvent = database.prepare('UPDATE inbox SET event = NULL WHERE run = ? AND event_id = ?');
    this.#noteArrival = database.prepare('UPDATE run SET inbox_ms = ? WHERE id = ? AND inbox_ms IS NULL');
    this.#noteConsumed = database.prepare(
      `UPDATE run SET inbox_ms =
         (SELECT arrived_ms FROM inbox WHERE run = run.id AND event IS NOT NULL ORDER BY inbox.id LIMIT 1)
       WHERE id = ?`,
    );
    this.#promote = database.prepare(
      `UPDATE run SET ready = 1,
         timer_ms = CASE WHEN state = ${State.OPEN} THEN max(deadline_ms, timer_ms) ELSE timer_ms END
       WHERE id = ? AND shard = ? AND epoch = ? AND version = ? AND timer_ms = ?
         AND ready = 0 AND holder IS NULL AND state IN (${State.OPEN}, ${State.ENDING})`,
    );
    this.#raise = database.prepare(
      `INSERT INTO alarm (key, first_ms, last_ms, count, alarm) VALUES (?1, ?2, ?2, 1, ?3)
       ON CONFLICT (key) DO UPDATE SET last_ms = max(last_ms, ?2), count = count + 1, alarm = ?3`,
    );
  }

  create(row: NewRow, changes: EncodedChanges): CreateResult {
    const { run, writeId, epoch, control, holder, entries, supersedes } = row;
    if (supersedes !== undefined) {
      if (this.#numbers.find(run) !== undefined) return { kind: 'exists' };
      if (!this.#supersedeRun(supersedes)) return { kind: 'refused' };
    }
    const inserted = this.#insert.run(
      epoch,
      writeId,
      epoch,
      holder,
      ...entryValues(entries),
      ...controlValues(control),
      shardOf(run, this.#shards),
      runParts(run).generation,
      identityBytes(identityOf(run)),
      control.parent === undefined ? null : (this.#numbers.find(control.parent) ?? null),
    );
    if (inserted.changes === 0) return { kind: 'exists' };
    const number = Number(inserted.lastInsertRowid);
    this.#numbers.note(run, number);
    this.#change(number, 1, changes);
    return { kind: 'done' };
  }

  claim(
    run: RunId,
    writeId: string,
    expected: Fence,
    holder: Uint8Array,
    entries: IndexEntries,
    changes: EncodedChanges,
  ): WriteResult {
    return this.#update(this.#claim, run, expected, [writeId, holder, ...entryValues(entries)], changes);
  }

  commit(
    run: RunId,
    writeId: string,
    expected: Fence,
    release: IndexEntries | undefined,
    changes: EncodedChanges,
  ): WriteResult {
    return release
      ? this.#update(this.#release, run, expected, [writeId, ...entryValues(release)], changes)
      : this.#update(this.#commit, run, expected, [writeId], changes);
  }

  post(run: RunId, event: InboxEvent, bytes: Uint8Array): PostResult {
    const number = this.#numbers.find(run);
    if (number === undefined) return { kind: 'absent' };
    const held = this.#holder.get(number)?.['holder'];
    const holder = held instanceof Uint8Array ? { holder: decodeHolder(held) } : {};
    const arrivedMs = Number(event.arrivedMs);
    const inserted = this.#putEvent.run(number, event.id, arrivedMs, bytes);
    if (inserted.changes === 0) return { kind: 'duplicate', ...holder };
    this.#noteArrival.run(arrivedMs, number);
    return { kind: 'done', ...holder };
  }

  /** Answers how many were made ready. */
  promote(shard: number, due: readonly IndexHit[]): number {
    let promoted = 0;
    for (const { run, fence, dueMs } of due) {
      const number = this.#numbers.find(run);
      if (number === undefined) continue;
      promoted += Number(this.#promote.run(number, shard, fence.epoch, fence.version, dueMs).changes);
    }
    return promoted;
  }

  raise({ key, atMs, bytes }: EncodedAlarm): void {
    this.#raise.run(key, atMs, bytes);
  }

  #update(
    update: FencedUpdate,
    run: RunId,
    expected: Fence,
    values: readonly Value[],
    changes: EncodedChanges,
  ): WriteResult {
    const number = this.#numbers.find(run);
    if (number === undefined || !update.run(number, expected, values, changes.control)) return { kind: 'fenced' };
    this.#change(number, expected.version + 1, changes);
    return { kind: 'done' };
  }

  #change(number: number, version: number, changes: EncodedChanges): void {
    this.#setCells(number, cellKind.step, changes.steps);
    this.#setCells(number, cellKind.field, changes.fields);
    if (changes.executions) this.#putExecutions.run(number, version, changes.executions);
    for (const id of changes.consumed) this.#consumeEvent.run(number, id);
    if (changes.consumed.length > 0) this.#noteConsumed.run(number);
    for (const alarm of changes.alarms) this.raise(alarm);
  }

  #setCells(number: number, kind: number, cells: EncodedChanges['steps']): void {
    for (const [name, cell] of cells) {
      if (cell) this.#putCell.run(number, kind, name, cell);
      else this.#removeCell.run(number, kind, name);
    }
  }

  /** Whether the run could be superseded; if so, it is. Its fence moves, so that no holder can reopen it meanwhile. */
  #supersedeRun(run: RunId): boolean {
    const number = this.#numbers.find(run);
    if (number === undefined) return false;
    const cell = this.#control.get(number)?.['control'];
    if (!(cell instanceof Uint8Array)) return false;
    const control = decodeControl(cell);
    if (control.superseded || !isTerminal(control.status.state)) return false;
    this.#supersede.run(...controlValues(encodedControl({ ...control, superseded: true })), number);
    return true;
  }
}
