// A new run, conditional on its absence; and with it the end of the generation before, which must be terminal and not superseded.
//
// Both have one identity, so one shard. What is read of the former generation may be old (S6): a refusal that rests on it is asked
// about with the fence that was read, so that the answer is about the present.

import type { IndexEntries, RunId } from '../../../flow/run.ts';
import { identityOf } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { decodeControl } from '../../codec.ts';
import { type EncodedControl, encodedControl } from '../../encoded-write.ts';
import type { CreateResult, Fence } from '../../port.ts';
import { absent, changeNothing, equals, type NewCell, put, valueOf } from '../cells.ts';
import type { Condition, Mutation, Row } from '../client/port.ts';
import { column, decodeFence, encodeEntries, encodeFence, encodeWrite, stampOf } from '../columns.ts';
import { replaceIndexRows } from '../index-rows.ts';
import { number8, RunKeys } from '../row-key.ts';
import type { RunFacts } from '../run-facts.ts';
import { controlCells, type RowChanges, rowMutations } from '../run-row.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import { raisedBy } from './raised-alarms.ts';
import type { Answering, WriteMemory } from './write-memory.ts';

export interface NewRun {
  readonly run: RunId;
  readonly writeId: string;
  /** Of the first fence: 1 when it is created already claimed, else 0. */
  readonly epoch: number;
  readonly control: EncodedControl;
  /** A Holder message; empty for nobody. */
  readonly holder: Uint8Array;
  readonly entries: IndexEntries;
  readonly changes: RowChanges;
  readonly supersedes: RunId | undefined;
}

const firstVersion = 1;

export class CreateWrite implements QueuedWrite {
  readonly key: string;
  readonly bytes: number;
  readonly #new: NewRun;
  readonly #keys: RunKeys;
  readonly #former: RunKeys | undefined;
  readonly #memory: WriteMemory;
  readonly #answering: Answering<CreateResult>;
  readonly #after: RunFacts;
  /** The present attempt changes nothing: it asks whether the refusal stands. */
  #asking = false;

  constructor(created: NewRun, keys: RunKeys, shards: number, memory: WriteMemory, answering: Answering<CreateResult>) {
    const { run, control, epoch, holder, entries, changes, supersedes } = created;
    this.key = identityOf(run);
    this.bytes = changes.bytes;
    this.#new = created;
    this.#keys = keys;
    this.#former = supersedes === undefined ? undefined : new RunKeys(supersedes, shards);
    this.#memory = memory;
    this.#answering = answering;
    const { level, order, inputBytes, deadlineMs, state } = control;
    this.#after = {
      fence: { epoch, version: firstVersion },
      entries: { ...entries, level, order },
      held: holder.length > 0,
      barrenClaims: epoch,
      ...{ level, order, inputBytes, deadlineMs, state },
    };
  }

  reads(): readonly Buffer[] {
    return this.#former ? [this.#keys.row, this.#former.row] : [];
  }

  attempt([own, former]: readonly (Row | undefined)[]): Attempt | undefined {
    if (!this.#former) return this.#accepted([], []);
    if (own && valueOf(own, column.fence)) {
      this.#answering.resolve({ kind: 'exists' });
      return undefined;
    }
    const { row } = this.#former;
    const fence = former && valueOf(former, column.fence);
    const stands = fence ? equals(row, column.fence, fence) : absent(row, column.fence);
    const superseding = former && fence ? supersede(row, former, decodeFence(fence)) : undefined;
    this.#asking = superseding === undefined;
    if (superseding) return this.#accepted([stands], superseding);
    // The rows were read one after the other: in between, the run may have been created, and have taken the place that is refused now.
    const conditions = [absent(this.#keys.row, column.fence), stands];
    return { conditions, mutations: [changeNothing(row)], alarms: [] };
  }

  done(): void {
    if (this.#asking) {
      this.#answering.resolve({ kind: 'refused' });
      return;
    }
    this.#memory.known.note(this.#new.run, this.#after);
    if (this.#new.supersedes !== undefined) this.#memory.known.forget(this.#new.supersedes);
    this.#answering.resolve({ kind: 'done' });
  }

  refused(): boolean {
    if (this.#former) return true;
    this.#answering.resolve({ kind: 'exists' });
    return false;
  }

  failed(cause: string): void {
    this.#memory.known.forget(this.#new.run);
    this.#answering.resolve({ kind: 'unknown', cause });
  }

  broken(bug: unknown): void {
    this.#answering.reject(bug);
  }

  #accepted(conditions: readonly Condition[], superseding: readonly Mutation[]): Attempt {
    const { run, writeId, epoch, control, holder, changes } = this.#new;
    const { fence, entries, state, inputBytes } = this.#after;
    const stamp = stampOf(firstVersion);
    const head: NewCell[] = [
      [column.fence, encodeFence(fence)],
      [column.write, encodeWrite(epoch, writeId)],
      [column.holder, holder],
      [column.entries, encodeEntries(entries)],
    ];
    const index = replaceIndexRows(this.#keys, undefined, entries, { fence, state, inputBytes, holder }, stamp);
    this.#memory.noteIndexRows(index.written);
    const mutations = [
      ...rowMutations(this.#keys.row, stamp, head, changes),
      // Not at the stamp: its own number rises, from 0.
      put(this.#keys.row, 1, [[column.inbox, number8(0)]]),
      ...index.mutations,
      ...superseding,
    ];
    if (changes.executions) {
      mutations.push(put(this.#keys.execution(firstVersion), stamp, [[column.value, changes.executions]]));
    }
    if (control.parent !== undefined) {
      mutations.push(put(this.#keys.child(control.parent), stamp, [[column.value, number8(0)]]));
    }
    const ownAbsent = absent(this.#keys.row, column.fence);
    return { conditions: [ownAbsent, ...conditions], mutations, alarms: raisedBy(run, changes.alarms) };
  }
}

/** Undefined when the run can't be superseded. Its fence moves, so that no holder can reopen it meanwhile. */
function supersede(row: Buffer, former: Row, fence: Fence): readonly Mutation[] | undefined {
  const bytes = valueOf(former, column.control);
  if (!bytes) throw new Error(`a stored run has no control data: ${row.toString('latin1')}`);
  const control = decodeControl(bytes);
  if (control.superseded || !isTerminal(control.status.state)) return undefined;
  const next = { epoch: fence.epoch, version: fence.version + 1 };
  const encoded = encodedControl({ ...control, superseded: true });
  return [put(row, stampOf(next.version), [[column.fence, encodeFence(next)], ...controlCells(encoded)])];
}
