// A write as an adapter stores it: cells as bytes, and what the index needs of the control data beside them. Encoding comes
// before anything is written, so that what can't be stored (a bug) harms nobody else, and nothing of the caller is kept.

import type { AlarmRaised, Changes } from '../flow/change.ts';
import type { Control, RunId } from '../flow/run.ts';
import type { Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';
import { safe } from './cell-writer.ts';
import { encodeAlarm, encodeControl, encodeExecutions, encodeField, encodeStep } from './codec.ts';

/** Control data, and what is looked up in it without decoding it. */
export interface EncodedControl {
  readonly bytes: Uint8Array;
  readonly level: number;
  readonly order: number;
  readonly deadlineMs: number;
  readonly inputBytes: number;
  readonly state: State;
  readonly reason: Reason;
  /** The run that started this one. */
  readonly parent: RunId | undefined;
}

export interface EncodedAlarm {
  readonly key: string;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

export interface EncodedChanges {
  readonly control: EncodedControl | undefined;
  /** Null removes the cell; so among `fields`. */
  readonly steps: ReadonlyArray<readonly [name: string, cell: Uint8Array | null]>;
  readonly fields: ReadonlyArray<readonly [name: string, cell: Uint8Array | null]>;
  /** An ExecutionBatch. */
  readonly executions: Uint8Array | undefined;
  readonly consumed: readonly string[];
  readonly alarms: readonly EncodedAlarm[];
  /** Size of the cells, without what every write has. */
  readonly bytes: number;
}

/** `epoch` is the one under which the write is accepted. Throws a RangeError for what can't be stored. */
export function encodeChanges(changes: Changes, epoch: number): EncodedChanges {
  const steps: Array<readonly [string, Uint8Array | null]> = [];
  const fields: Array<readonly [string, Uint8Array | null]> = [];
  let bytes = 0;
  for (const [name, step] of changes.steps) {
    const cell = step === null ? null : encodeStep(step);
    bytes += cell?.length ?? 0;
    steps.push([name, cell]);
  }
  for (const [name, field] of changes.fields) {
    const cell = field === null ? null : encodeField(field);
    bytes += cell?.length ?? 0;
    fields.push([name, cell]);
  }
  const executions = changes.executions.length === 0 ? undefined : encodeExecutions(changes.executions, epoch);
  bytes += executions?.length ?? 0;
  return {
    control: changes.control === undefined ? undefined : encodedControl(changes.control),
    steps,
    fields,
    executions,
    consumed: [...changes.consumed],
    alarms: changes.alarms.map(encodedAlarm),
    bytes,
  };
}

export function encodedControl(control: Control): EncodedControl {
  const { level, order, deadlineMs, inputBytes, status } = control;
  return {
    bytes: encodeControl(control),
    level,
    order,
    deadlineMs,
    inputBytes,
    state: status.state,
    reason: status.reason,
    parent: control.parent?.run,
  };
}

export function encodedAlarm(raised: AlarmRaised): EncodedAlarm {
  return { key: raised.key, atMs: safe(raised.atMs), bytes: encodeAlarm(raised) };
}
