// The first state of a run.

import { Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';
import { type Changes, noChanges } from './change.ts';
import type { Plan } from './plan.ts';
import { type Control, type FieldValue, fieldKey, inputWriter, type Parent, type Run } from './run.ts';
import { runId } from './run-id.ts';

export interface NewRun {
  readonly itemKey: Uint8Array;
  readonly generation: number;
  readonly level: number;
  readonly order: number;
  readonly creationHash: Uint8Array;
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly nowMs: number;
  /** Of a run that another one started. */
  readonly parent?: Parent;
  readonly rowKey?: Uint8Array;
  /** It ends no later than this, in ms since 1970. */
  readonly latestMs?: number;
}

/** An OPEN run of which nothing has been decided, and the changes that create it. */
export function newRun(plan: Plan, from: NewRun): { run: Run; changes: Changes } {
  const { itemKey, generation, level, order, creationHash, nowMs } = from;
  const fields = new Map<string, FieldValue>();
  let inputBytes = 0;
  for (const [name, value] of from.fields) {
    fields.set(fieldKey(inputWriter, name), value);
    inputBytes += value.bytes.length;
  }
  const control: Control = {
    business: plan.business,
    itemKey,
    flow: plan.name,
    generation,
    flowVersion: plan.version,
    level,
    order,
    creationHash,
    createdMs: nowMs,
    deadlineMs: Math.min(nowMs + plan.deadlineMs, from.latestMs ?? Infinity),
    inputBytes,
    superseded: false,
    ...(from.parent && { parent: from.parent }),
    ...(from.rowKey && { rowKey: from.rowKey }),
    status: {
      state: State.OPEN,
      reason: Reason.UNSPECIFIED,
      detail: '',
      outcomeNumber: 0,
      outcome: State.UNSPECIFIED,
      sinceMs: nowMs,
      evidence: [],
    },
  };
  const changes = noChanges();
  changes.control = control;
  for (const [key, value] of fields) changes.fields.set(key, value);
  const id = runId({ business: plan.business, flow: plan.name, itemKey, generation });
  return { run: { id, control, steps: new Map(), fields }, changes };
}
