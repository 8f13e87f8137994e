// What a decision changes. Changes are data: a commit writes exactly these cells, `apply` makes the same change in memory.

import type { AlarmKind, InboxEvent } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Try } from './event.ts';
import type { Control, FieldValue, StepState } from './run.ts';

export interface Changes {
  /** The new control data, whole; absent when unchanged. */
  control?: Control;
  /** Changed steps, by path; null removes one (a branch that is dealt with). */
  readonly steps: Map<string, StepState | null>;
  /** New fields by `writer/name`; null removes one (a re-armed step). */
  readonly fields: Map<string, FieldValue | null>;
  /** Attempts whose end is now recorded. */
  readonly executions: Execution[];
  /** Ids of inbox events that this decision used up. */
  readonly consumed: InboxEvent['id'][];
  readonly alarms: AlarmRaised[];
}

/** One call of a step, or one try of it at an endpoint that declined. */
export interface Execution extends Try {
  readonly step: string;
  readonly round: number;
  readonly attempt: number;
  readonly module: string;
  readonly droppedFields: number;
}

export interface AlarmRaised {
  /** One record per key: repetitions raise its count. */
  readonly key: string;
  readonly kind: AlarmKind;
  readonly business: string;
  readonly flow: string;
  readonly itemKey: Uint8Array;
  readonly step: string;
  readonly module: string;
  readonly message: string;
  readonly atMs: number;
}

export function noChanges(): Changes {
  return { steps: new Map(), fields: new Map(), executions: [], consumed: [], alarms: [] };
}

export function isEmpty(changes: Changes): boolean {
  return (
    changes.control === undefined &&
    changes.steps.size === 0 &&
    changes.fields.size === 0 &&
    changes.executions.length === 0 &&
    changes.consumed.length === 0 &&
    changes.alarms.length === 0
  );
}

/** Adds `later` to `earlier`, which it changes: one commit then carries both. */
export function mergeChanges(earlier: Changes, later: Changes): void {
  if (later.control) earlier.control = later.control;
  for (const [id, state] of later.steps) earlier.steps.set(id, state);
  for (const [key, value] of later.fields) earlier.fields.set(key, value);
  earlier.executions.push(...later.executions);
  earlier.consumed.push(...later.consumed);
  earlier.alarms.push(...later.alarms);
}
