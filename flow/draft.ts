// What one decision has changed so far, laid over the run it began with. Lives for one call of `decide`.
//
// Invariants:
//   D1  The run under the draft is never written.
//   D2  A step in `calls` has an effect only if it is RUNNING when the decision is complete.

import type { AlarmKind } from '../proto/gen/weir/run/v1/run_pb.js';
import { Reason, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { type Changes, type Execution, noChanges } from './change.ts';
import type { Effect } from './effect.ts';
import type { Context } from './event.ts';
import type { JoinsBetween, Plan, Reading } from './plan.ts';
import type { Control, FieldValue, Run, Status, StepState } from './run.ts';

export class Draft {
  readonly plan: Plan;
  readonly context: Context;
  readonly changes: Changes = noChanges();
  readonly aborts = new Set<string>();
  /** Steps whose effect is performed once the decision is stored: a call, a run to start, something to tell. */
  readonly calls = new Set<string>();
  readonly #run: Run;

  constructor(plan: Plan, run: Run, context: Context) {
    this.plan = plan;
    this.#run = run;
    this.context = context;
  }

  get runId(): Run['id'] {
    return this.#run.id;
  }

  get control(): Control {
    return this.changes.control ?? this.#run.control;
  }

  get status(): Status {
    return this.control.status;
  }

  setControl(control: Partial<Control>): void {
    this.changes.control = { ...this.control, ...control };
  }

  step(id: string): StepState | undefined {
    const changed = this.changes.steps.get(id);
    return changed === undefined ? this.#run.steps.get(id) : (changed ?? undefined);
  }

  setStep(id: string, state: StepState): void {
    this.changes.steps.set(id, state);
  }

  removeStep(id: string): void {
    this.changes.steps.set(id, null);
  }

  /** Paths of the steps that were reached: also of branches, exit calls and what is to be told to others. */
  *reached(): Iterable<readonly [string, StepState]> {
    for (const id of this.#run.steps.keys()) {
      const state = this.step(id);
      if (state) yield [id, state];
    }
    for (const [id, state] of this.changes.steps) if (state && !this.#run.steps.has(id)) yield [id, state];
  }

  setField(key: string, value: FieldValue): void {
    this.changes.fields.set(key, value);
  }

  removeField(key: string): void {
    if (this.#run.fields.has(key) || this.changes.fields.has(key)) this.changes.fields.set(key, null);
  }

  field(key: string): FieldValue | undefined {
    const changed = this.changes.fields.get(key);
    return changed === undefined ? this.#run.fields.get(key) : (changed ?? undefined);
  }

  /** Keys of all fields that stand under a writer. */
  fieldsOf(writer: string): string[] {
    const under = `${writer}/`;
    const keys = new Set([...this.#run.fields.keys(), ...this.changes.fields.keys()]);
    return [...keys].filter((key) => key.startsWith(under) && this.field(key) !== undefined);
  }

  /** What a memo about this run's fields may be kept under: the same for as long as the run is in memory. */
  get memoKey(): object {
    return this.#run.fields;
  }

  /** The value of the nearest writer that wrote one, else the default. */
  read(reading: Reading): FieldValue | undefined {
    for (const key of reading.keys) {
      const value = this.field(key);
      if (value && !this.#isLate(reading.late.get(key))) return value;
    }
    return reading.declared?.default;
  }

  /** Written after the joins between writer and reader went on. */
  #isLate(between: JoinsBetween | undefined): boolean {
    if (between === undefined) return false;
    return !between.joins.some((join) => this.step(join)?.chosen.includes(between.writer));
  }

  record(execution: Execution): void {
    this.changes.executions.push(execution);
  }

  alarm(kind: AlarmKind, key: string, message: string, where: { step?: string; module?: string } = {}): void {
    const { business, flow, itemKey } = this.control;
    const { step = '', module = '' } = where;
    const atMs = this.context.nowMs;
    this.changes.alarms.push({ key, kind, business, flow, itemKey, step, module, message, atMs });
  }

  /** Ends a step in this decision. */
  settle(id: string, status: StepStatus, more: Partial<StepState> = {}): void {
    const before = this.step(id) ?? unreached(this.context.nowMs);
    this.setStep(id, { ...before, ...more, status, endedMs: this.context.nowMs, dueMs: 0 });
  }

  fail(id: string, reason: Reason, message: string): void {
    this.settle(id, StepStatus.FAILED, { reason, message });
  }

  effects(effectOf: (draft: Draft, id: string) => Effect): Effect[] {
    const effects: Effect[] = [];
    for (const step of this.aborts) effects.push({ kind: 'abort', step });
    for (const id of this.calls) {
      if (this.step(id)?.status === StepStatus.RUNNING) effects.push(effectOf(this, id));
    }
    return effects;
  }
}

/** The state of a step at the moment it is reached for the first time. */
export function unreached(nowMs: number): StepState {
  return {
    status: StepStatus.UNSPECIFIED,
    round: 1,
    attempts: 0,
    losses: 0,
    declines: 0,
    message: '',
    reason: Reason.UNSPECIFIED,
    startedMs: nowMs,
    endedMs: 0,
    dueMs: 0,
    chosen: [],
  };
}

/** The state of a step that begins again: the next round, nothing spent. */
export function rearmed(before: StepState): StepState {
  return { ...unreached(0), status: StepStatus.REARMED, round: before.round + 1 };
}
