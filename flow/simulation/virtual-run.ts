// One run in a world without anything else: time moves when it is told to, chance is what the caller says. No I/O: golden tests,
// `weir flow simulate` and a browser use it alike.
//
// Invariants:
//   V1  Time never goes back.
//   V2  A `Decided` is a picture: later decisions don't change it.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { type InboxEvent, InboxEventSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import { apply } from '../apply.ts';
import { type Changes, mergeChanges, noChanges } from '../change.ts';
import { decide } from '../decide.ts';
import type { Effect } from '../effect.ts';
import type { RunEvent } from '../event.ts';
import { defaultLevel } from '../level.ts';
import { type NewRun, newRun } from '../new-run.ts';
import type { Plan } from '../plan.ts';
import type { Control, FieldValue, Run, StepState } from '../run.ts';
import { type Standing, standing } from '../standing.ts';

export type InboxKind = NonNullable<MessageInitShape<typeof InboxEventSchema>['kind']>;

/** What was there before a decision. */
export interface Before {
  readonly control: Control;
  /** Of the steps that the decision changed. */
  readonly steps: ReadonlyMap<string, StepState>;
}

/** What one decision did. */
export interface Decided {
  /** Undefined when the run was created. */
  readonly before: Before | undefined;
  /** After it. */
  readonly control: Control;
  readonly changes: Changes;
  readonly effects: readonly Effect[];
  readonly standing: Standing;
}

export interface VirtualRunOptions {
  /** Key of the item. */
  readonly itemKey?: string;
  /** 1 (first) to 9. */
  readonly level?: number;
  /** How long a terminal status may wait for exit calls, in ms. A minute, so that traces of them stay short. */
  readonly endingDeadlineMs?: number;
  /** Uniform in [0, 1). Always one half, so that pauses are half of the longest possible one. */
  readonly random?: () => number;
}

/** When runs are submitted, in ms since 1970: 2026-01-01T00:00:00Z. Traces show times since then. */
export const startMs = 1_767_225_600_000;

export class VirtualRun {
  #plan: Plan;
  readonly #options: Required<VirtualRunOptions>;
  #run: Run | undefined;
  #nowMs = startMs;
  #events = 0;

  constructor(plan: Plan, options: VirtualRunOptions = {}) {
    this.#plan = plan;
    this.#options = {
      itemKey: 'item',
      level: defaultLevel,
      endingDeadlineMs: 60_000,
      random: () => 0.5,
      ...options,
    };
  }

  /** In ms since 1970. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Throws before `submit`. */
  get run(): Run {
    if (!this.#run) throw new Error('a run begins with submit');
    return this.#run;
  }

  /** Creates the run and makes its first decision, as a dispatch with room does. `from`: where another run starts it. */
  submit(fields: ReadonlyMap<string, FieldValue>, from: Pick<NewRun, 'parent' | 'rowKey' | 'latestMs'> = {}): Decided {
    const { itemKey, level } = this.#options;
    const { run, changes } = newRun(this.#plan, {
      ...from,
      itemKey: getTextEncoding().encodeUtf8(itemKey),
      generation: 1,
      level,
      order: 1,
      creationHash: new Uint8Array(),
      fields,
      nowMs: this.#nowMs,
    });
    this.#run = run;
    const decided = this.happen({ kind: 'claimed', barrenClaims: 1 });
    const all = noChanges();
    mergeChanges(all, changes);
    mergeChanges(all, decided.changes);
    return { ...decided, before: undefined, changes: all };
  }

  happen(event: RunEvent): Decided {
    const { random, endingDeadlineMs } = this.#options;
    const { run } = this;
    const { changes, effects } = decide(this.#plan, run, event, { nowMs: this.#nowMs, random, endingDeadlineMs });
    // Only what changes is kept of what was: `apply` goes on using the maps, and runs can be large.
    const before = { control: run.control, steps: statesOf(run, changes) };
    this.#run = apply(run, changes);
    const { control } = this.#run;
    return { before, control, changes, effects, standing: standing(this.#run, endingDeadlineMs) };
  }

  /** An event arrives in the run's inbox. */
  inbox(kind: InboxKind): Decided {
    const event: InboxEvent = create(InboxEventSchema, { id: `event-${++this.#events}`, kind });
    return this.happen({ kind: 'inbox', event });
  }

  /** The next holder has the plan of another version, to which the run was moved. */
  decideWith(plan: Plan): void {
    this.#plan = plan;
  }

  /** Moves time, without a decision. `atMs` is in ms since 1970. */
  moveTo(atMs: number): void {
    if (atMs < this.#nowMs) throw new Error(`invariant V1: from ${this.#nowMs} back to ${atMs}`);
    this.#nowMs = atMs;
  }
}

function statesOf(run: Run, changes: Changes): ReadonlyMap<string, StepState> {
  const states = new Map<string, StepState>();
  for (const id of changes.steps.keys()) {
    const state = run.steps.get(id);
    if (state) states.set(id, state);
  }
  return states;
}
