// Makes a sleeping run ready, at its old place in its level, if nobody changed it since it was seen.

import type { RunId } from '../../../flow/run.ts';
import { identityOf } from '../../../flow/run-id.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence } from '../../port.ts';
import { equals, put } from '../cells.ts';
import type { Row } from '../client/port.ts';
import { column, encodeEntries, encodeFence, sameFence, stampOf } from '../columns.ts';
import { replaceIndexRows } from '../index-rows.ts';
import type { RunKeys } from '../row-key.ts';
import { type RunFacts, readFacts } from '../run-facts.ts';
import type { Attempt, QueuedWrite } from '../shard-queue.ts';
import type { Answering, WriteMemory } from './write-memory.ts';

const nobody = new Uint8Array();

export class Promotion implements QueuedWrite {
  readonly key: string;
  readonly bytes = 0;
  readonly #run: RunId;
  readonly #fence: Fence;
  readonly #dueMs: number;
  readonly #keys: RunKeys;
  readonly #memory: WriteMemory;
  readonly #answering: Answering<boolean>;
  #after: RunFacts | undefined;

  constructor(
    { run, fence, dueMs }: { readonly run: RunId; readonly fence: Fence; readonly dueMs: number },
    keys: RunKeys,
    memory: WriteMemory,
    answering: Answering<boolean>,
  ) {
    this.key = identityOf(run);
    this.#run = run;
    this.#fence = fence;
    this.#dueMs = dueMs;
    this.#keys = keys;
    this.#memory = memory;
    this.#answering = answering;
  }

  reads(): readonly Buffer[] {
    return [this.#keys.row];
  }

  attempt([row]: readonly (Row | undefined)[]): Attempt | undefined {
    const facts = readFacts(row);
    if (!facts || !this.#isAsleep(facts)) {
      this.#answering.resolve(false);
      return undefined;
    }
    const { fence, state, inputBytes, deadlineMs, level, order } = facts;
    const timerMs = state === State.OPEN ? Math.max(deadlineMs, this.#dueMs) : this.#dueMs;
    const entries = { ready: true, timerMs, level, order };
    this.#after = { ...facts, entries };
    const stamp = stampOf(fence.version, true);
    const value = { fence, state, inputBytes, holder: nobody };
    const index = replaceIndexRows(this.#keys, facts.entries, entries, value, stamp);
    this.#memory.noteIndexRows(index.written);
    return {
      conditions: [
        equals(this.#keys.row, column.fence, encodeFence(fence)),
        equals(this.#keys.row, column.entries, encodeEntries(facts.entries)),
      ],
      mutations: [put(this.#keys.row, stamp, [[column.entries, encodeEntries(entries)]]), ...index.mutations],
      alarms: [],
    };
  }

  done(): void {
    if (this.#after) this.#memory.known.note(this.#run, this.#after);
    this.#answering.resolve(true);
  }

  /** Whoever was quicker than this pass has put the run where it belongs. */
  refused(): boolean {
    this.#memory.known.forget(this.#run);
    this.#answering.resolve(false);
    return false;
  }

  /** Not counted; the next pass promotes again. */
  failed(): void {
    this.refused();
  }

  broken(bug: unknown): void {
    this.#answering.reject(bug);
  }

  #isAsleep({ fence, held, state, entries }: RunFacts): boolean {
    return (
      sameFence(fence, this.#fence) &&
      !held &&
      entries.timerMs === this.#dueMs &&
      !entries.ready &&
      (state === State.OPEN || state === State.ENDING)
    );
  }
}
