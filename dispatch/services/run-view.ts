// Runs as callers see them.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Plan } from '../../flow/plan.ts';
import { type Control, type FieldValue, fieldKey, inputWriter, type Run, splitFieldKey } from '../../flow/run.ts';
import { activity } from '../../flow/standing.ts';
import type { Execution, FieldCellSchema, StatusSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { FieldViewSchema, RunSchema, StepViewSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { StoredRun } from '../../store/port.ts';
import { runName } from './run-name.ts';

/** The parts of a run that a caller asked for. */
export interface ShownParts {
  readonly steps?: Array<MessageInitShape<typeof StepViewSchema>>;
  readonly fields?: Array<MessageInitShape<typeof FieldViewSchema>>;
  readonly executions?: Execution[];
}

export function runView(stored: Omit<StoredRun, 'inbox'>, parts: ShownParts): MessageInitShape<typeof RunSchema> {
  const { run, fence, holder } = stored;
  const { control } = run;
  return {
    name: runName(run.id),
    flowVersion: control.flowVersion,
    level: control.level,
    status: statusView(control.status),
    activity: activity(run, holder !== undefined),
    createdAt: timestampFromMs(control.createdMs),
    deadlineAt: timestampFromMs(control.deadlineMs),
    since: timestampFromMs(control.status.sinceMs),
    holder: holder?.processId ?? '',
    ...(control.parent && { parent: runName(control.parent.run) }),
    epoch: BigInt(fence.epoch),
    version: BigInt(fence.version),
    ...parts,
  };
}

/** All fields: what came with the item first, then by writer and name. */
export function fieldViews(run: Run): Array<MessageInitShape<typeof FieldViewSchema>> {
  return [...run.fields]
    .map(([key, field]) => ({ ...splitFieldKey(key), cell: fieldCell(field) }))
    .toSorted(
      (one, other) =>
        rank(one.writer) - rank(other.writer) || byText(one.writer, other.writer) || byText(one.name, other.name),
    );
}

/**
 * The value of each named field from its newest writer: the last step of `plan` that wrote it, else what came with the item.
 * A field that nobody wrote is left out.
 */
export function newestFields(
  run: Run,
  plan: Plan,
  names: readonly string[],
): Array<MessageInitShape<typeof FieldViewSchema>> {
  // Of two steps that write one field one is always before the other, so the order of the plan says which is the newer.
  const writers = [...plan.steps.map(({ id }) => id).toReversed(), inputWriter];
  return names.flatMap((name) => {
    const writer = writers.find((each) => run.fields.has(fieldKey(each, name)));
    const field = writer === undefined ? undefined : run.fields.get(fieldKey(writer, name));
    return writer !== undefined && field ? [{ writer, name, cell: fieldCell(field) }] : [];
  });
}

function statusView(status: Control['status']): MessageInitShape<typeof StatusSchema> {
  const { state, reason, detail, outcomeNumber, outcome, sinceMs, evidence } = status;
  return { state, reason, detail, outcomeNumber, outcome, sinceMs: BigInt(sinceMs), evidence: [...evidence] };
}

function fieldCell({ bytes, reference }: FieldValue): MessageInitShape<typeof FieldCellSchema> {
  return reference ? { value: bytes, reference } : { value: bytes };
}

function rank(writer: string): number {
  return writer === inputWriter ? 0 : 1;
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
