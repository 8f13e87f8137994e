// A claim or a commit: a change of a run that is accepted only at the fence it expects.
//
// One that replaces the index entries must know those that stand, and is conditional on them too, since a promotion changes them and
// leaves the fence alone. What is known of the run at this fence is used at first; only when the conditions don't hold the row
// is read. A read may be old (S6): what shows a newer fence proves that ours is gone, what shows an older one, or no run, proves
// nothing, and then the fence alone is asked about.

import type { IndexEntries, RunId } from '../../../flow/run.ts';
import { identityOf } from '../../../flow/run-id.ts';
import type { Fence, WriteResult } from '../../port.ts';
import { absent, changeNothing, equals, type NewCell, put, remove, valueOf } from '../cells.ts';
import type { Condition, Mutation, Row } from '../client/port.ts';
import {
  column,
  decodeMark,
  encodeEntries,
  encodeFence,
  encodeWrite,
  repairedEventStamp,
  sameFence,
  stampOf,
} from '../columns.ts';
import { replaceIndexRows } from '../index-rows.ts';
import type { RunKeys } from '../row-key.ts';
import { type RunFacts, readFacts, withControl } from '../run-facts.ts';
import { type RowChanges, rowMutations } from '../run-row.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import { raisedBy } from './raised-alarms.ts';
import type { Answering, WriteMemory } from './write-memory.ts';

export interface FencedChange {
  readonly run: RunId;
  readonly writeId: string;
  readonly expected: Fence;
  /** The fence when it is accepted. */
  readonly next: Fence;
  readonly barrenClaims: 'raise' | 'clear';
  readonly changes: RowChanges;
  /** Holder and entries, when they are replaced: a Holder message, empty for nobody. */
  readonly hold: { readonly holder: Uint8Array; readonly entries: IndexEntries } | undefined;
}

export class FencedWrite implements QueuedWrite {
  readonly key: string;
  readonly bytes: number;
  readonly #change: FencedChange;
  readonly #keys: RunKeys;
  readonly #memory: WriteMemory;
  readonly #answering: Answering<WriteResult>;
  /** What is remembered of the run didn't hold: it has to be read. */
  #stale = false;
  /** What is remembered of the run at the expected fence, in the present attempt. */
  #facts: RunFacts | undefined;
  /** The present attempt reads the run. */
  #readsRow = false;
  /** The present attempt changes nothing. */
  #asking = false;
  /** The present attempt depends on more than the fence. */
  #hasMore = false;
  /** What the run is when the present attempt is accepted, as far as it is known. */
  #after: RunFacts | undefined;

  constructor(change: FencedChange, keys: RunKeys, memory: WriteMemory, answering: Answering<WriteResult>) {
    this.key = identityOf(change.run);
    this.bytes = change.changes.bytes;
    this.#change = change;
    this.#keys = keys;
    this.#memory = memory;
    this.#answering = answering;
  }

  /** A commit that keeps its run leaves the index alone, so it needs to know nothing. */
  reads(): readonly Buffer[] {
    const { run, expected, changes, hold } = this.#change;
    const remembered = this.#stale ? undefined : this.#memory.known.get(run);
    this.#facts = remembered && sameFence(remembered.fence, expected) ? remembered : undefined;
    this.#readsRow = this.#stale || (hold !== undefined && this.#facts === undefined);
    const marks = changes.consumed.map((id) => this.#keys.eventMark(id));
    return this.#readsRow ? [this.#keys.row, ...marks] : marks;
  }

  attempt(rows: readonly (Row | undefined)[]): Attempt | undefined {
    const { expected, hold } = this.#change;
    const readsRow = this.#readsRow;
    const facts = readsRow ? readFacts(rows[0]) : this.#facts;
    this.#asking = readsRow && !(facts && sameFence(facts.fence, expected));
    if (!this.#asking) return this.#accepted(facts, readsRow ? rows.slice(1) : rows, hold);
    if (facts && facts.fence.version > expected.version) {
      this.#answering.resolve({ kind: 'fenced' });
      return undefined;
    }
    return { conditions: [this.#fenceStands()], mutations: [changeNothing(this.#keys.row)], alarms: [] };
  }

  done(): void {
    if (this.#asking) {
      this.failed('the fence stands, but a region server answered a read with an older state');
      return;
    }
    if (this.#after) this.#memory.known.note(this.#change.run, this.#after);
    this.#answering.resolve({ kind: 'done' });
  }

  refused(): boolean {
    this.#memory.known.forget(this.#change.run);
    const isDecided = this.#asking || !this.#hasMore;
    if (isDecided) this.#answering.resolve({ kind: 'fenced' });
    this.#stale = true;
    return !isDecided;
  }

  failed(cause: string): void {
    this.#memory.known.forget(this.#change.run);
    this.#answering.resolve({ kind: 'unknown', cause });
  }

  broken(bug: unknown): void {
    this.#memory.known.forget(this.#change.run);
    this.#answering.reject(bug);
  }

  #accepted(facts: RunFacts | undefined, marks: readonly (Row | undefined)[], hold: FencedChange['hold']): Attempt {
    const { run, writeId, next, changes, barrenClaims } = this.#change;
    const stamp = stampOf(next.version);
    const conditions = [this.#fenceStands()];
    const barren = barrenClaims === 'raise' ? (facts?.barrenClaims ?? 0) + 1 : 0;
    this.#after = facts && { ...withControl(facts, changes.control), fence: next, barrenClaims: barren };
    const head: NewCell[] = [
      [column.fence, encodeFence(next)],
      [column.write, encodeWrite(barren, writeId)],
    ];
    const index: Mutation[] = [];
    if (hold) index.push(...this.#replaceHold(hold, head, conditions, stamp));
    const mutations = [...rowMutations(this.#keys.row, stamp, head, changes), ...index];
    this.#consume(marks, conditions, mutations);
    if (changes.executions) {
      mutations.push(put(this.#keys.execution(next.version), stamp, [[column.value, changes.executions]]));
    }
    this.#hasMore = conditions.length > 1;
    return { conditions, mutations, alarms: raisedBy(run, changes.alarms) };
  }

  /** A new holder, or none, with new entries. */
  #replaceHold(
    { holder, entries: given }: NonNullable<FencedChange['hold']>,
    head: NewCell[],
    conditions: Condition[],
    stamp: number,
  ): readonly Mutation[] {
    const after = this.#after;
    if (!after) throw new Error('a hold is replaced only where the run is known');
    const { entries: before, level, order, inputBytes, state, fence } = after;
    const entries = { ...given, level, order };
    head.push([column.holder, holder], [column.entries, encodeEntries(entries)]);
    conditions.push(equals(this.#keys.row, column.entries, encodeEntries(before)));
    this.#after = { ...after, entries, held: holder.length > 0 };
    const index = replaceIndexRows(this.#keys, before, entries, { fence, state, inputBytes, holder }, stamp);
    this.#memory.noteIndexRows(index.written);
    return index.mutations;
  }

  /**
   * Events are put once and deleted once. An id without a mark is no event, if that is still so when the write is accepted: the
   * read may be older than what the caller saw.
   */
  #consume(marks: readonly (Row | undefined)[], conditions: Condition[], mutations: Mutation[]): void {
    for (const [index, id] of this.#change.changes.consumed.entries()) {
      const row = marks[index];
      const mark = row && valueOf(row, column.value);
      if (!mark) {
        conditions.push(absent(this.#keys.eventMark(id), column.value));
        continue;
      }
      const { sequence, arrivedMs } = decodeMark(mark);
      for (const key of [this.#keys.event(sequence), this.#keys.inbox(arrivedMs, sequence)]) {
        mutations.push(remove(key, repairedEventStamp, [column.value]));
      }
    }
  }

  #fenceStands(): Condition {
    return equals(this.#keys.row, column.fence, encodeFence(this.#change.expected));
  }
}
