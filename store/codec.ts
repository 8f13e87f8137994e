// Between the core's state (flow/run.ts) and the stored messages (weir.run.v1). The one place where 64-bit integers become
// numbers: what isn't a whole number from 0 to 2^53 - 1 is refused in both directions.
//
// Stored fields that this version doesn't know ride along as `$unknown`, an ordinary property: whoever makes the next state
// of a control or step by spreading the last one carries them too, and they are written back (protocol §9). A step that a
// retry arms anew drops them: what a newer version knew of the last round doesn't hold for the next.

import { create, fromBinary, type Message, toBinary, type UnknownField } from '@bufbuild/protobuf';
import type { AlarmRaised, Execution as CoreExecution } from '../flow/change.ts';
import type { Branches, Control, FieldValue, Holder, Parent, RunId, Status, StepState } from '../flow/run.ts';
import {
  type Alarm,
  AlarmSchema,
  type Branches as BranchesMessage,
  ControlSchema,
  type Execution,
  ExecutionBatchSchema,
  FieldCellSchema,
  HolderSchema,
  type InboxEvent,
  InboxEventSchema,
  type Parent as ParentMessage,
  type Status as StatusMessage,
  StepCellSchema,
} from '../proto/gen/weir/run/v1/run_pb.js';
import {
  bytes,
  encode,
  encodeBytes,
  flag,
  message,
  optionalUnsigned,
  safe,
  text,
  texts,
  unknown,
  unsigned,
} from './cell-writer.ts';

/** A core object with stored fields that this version doesn't know. */
interface WithUnknown {
  readonly $unknown?: readonly UnknownField[];
}

function carried(from: Message): WithUnknown {
  return from.$unknown && from.$unknown.length > 0 ? { $unknown: from.$unknown } : {};
}

function number(value: bigint): number {
  return safe(Number(value));
}

export function encodeControl(control: Control): Uint8Array {
  return encode(control, fillControl);
}

function fillControl(control: Control & WithUnknown): void {
  text(1, control.business);
  bytes(2, control.itemKey);
  text(3, control.flow);
  unsigned(4, control.generation);
  unsigned(5, control.flowVersion);
  unsigned(6, control.level);
  unsigned(7, control.order);
  bytes(8, control.creationHash);
  unsigned(9, control.createdMs);
  unsigned(10, control.deadlineMs);
  message(11, control.status, fillStatus);
  flag(12, control.superseded);
  unsigned(13, control.inputBytes);
  if (control.parent) message(14, control.parent, fillParent);
  if (control.rowKey) bytes(15, control.rowKey);
  unknown(control.$unknown);
}

function fillParent(parent: Parent & WithUnknown): void {
  text(1, parent.run);
  text(2, parent.step);
  unsigned(3, parent.round);
  flag(4, parent.waits);
  texts(5, parent.receive);
  unsigned(6, parent.chain);
  unknown(parent.$unknown);
}

function fillStatus(status: Status & WithUnknown): void {
  unsigned(1, status.state);
  unsigned(2, status.reason);
  text(3, status.detail);
  unsigned(4, status.outcomeNumber);
  unsigned(5, status.outcome);
  unsigned(6, status.sinceMs);
  texts(7, status.evidence);
  unknown(status.$unknown);
}

/** The answer's bytes are views of `cell`. */
export function decodeControl(cell: Uint8Array): Control {
  const from = fromBinary(ControlSchema, cell);
  return {
    business: from.business,
    itemKey: from.itemKey,
    flow: from.flow,
    generation: from.generation,
    flowVersion: from.flowVersion,
    level: from.level,
    order: number(from.order),
    creationHash: from.creationHash,
    createdMs: number(from.createdMs),
    deadlineMs: number(from.deadlineMs),
    inputBytes: number(from.inputBytes),
    superseded: from.superseded,
    ...(from.parent && { parent: decodeParent(from.parent) }),
    ...(from.rowKey.length > 0 && { rowKey: from.rowKey }),
    status: decodeStatus(from.status),
    ...carried(from),
  };
}

function decodeParent(from: ParentMessage): Parent {
  const { run, step, round, waits, receive, chain } = from;
  return { run: run as RunId, step, round, waits, receive, chain, ...carried(from) };
}

function decodeStatus(from: StatusMessage | undefined): Status {
  if (!from) throw new Error('a stored run has no status');
  return {
    state: from.state,
    reason: from.reason,
    detail: from.detail,
    outcomeNumber: from.outcomeNumber,
    outcome: from.outcome,
    sinceMs: number(from.sinceMs),
    evidence: from.evidence,
    ...carried(from),
  };
}

export function encodeHolder(holder: Holder): Uint8Array {
  return encode(holder, fillHolder);
}

function fillHolder(holder: Holder): void {
  text(1, holder.processId);
  text(2, holder.incarnation);
  unsigned(3, holder.claimedMs);
}

export function decodeHolder(cell: Uint8Array): Holder {
  const from = fromBinary(HolderSchema, cell);
  return { processId: from.processId, incarnation: from.incarnation, claimedMs: number(from.claimedMs) };
}

export function encodeStep(step: StepState): Uint8Array {
  return encode(step, fillStep);
}

function fillStep(step: StepState & WithUnknown): void {
  unsigned(1, step.status);
  unsigned(2, step.round);
  unsigned(3, step.attempts);
  unsigned(4, step.losses);
  unsigned(5, step.declines);
  optionalUnsigned(6, step.code);
  text(7, step.message);
  unsigned(8, step.startedMs);
  unsigned(9, step.endedMs);
  unsigned(10, step.dueMs);
  texts(11, step.chosen);
  unsigned(12, step.reason);
  text(13, step.child ?? '');
  optionalUnsigned(14, step.childOutcome);
  if (step.branches) message(15, step.branches, fillBranches);
  unknown(step.$unknown);
}

function fillBranches(branches: Branches & WithUnknown): void {
  unsigned(1, branches.count);
  bytes(2, branches.done);
  bytes(3, branches.failed);
  unsigned(4, branches.next);
  unknown(branches.$unknown);
}

export function decodeStep(cell: Uint8Array): StepState {
  const from = fromBinary(StepCellSchema, cell);
  return {
    status: from.status,
    round: from.round,
    attempts: from.attempts,
    losses: from.losses,
    declines: from.declines,
    ...(from.code === undefined ? {} : { code: from.code }),
    message: from.message,
    reason: from.reason,
    startedMs: number(from.startedMs),
    endedMs: number(from.endedMs),
    dueMs: number(from.dueMs),
    chosen: from.chosen,
    ...(from.child !== '' && { child: from.child as RunId }),
    ...(from.childOutcome !== undefined && { childOutcome: from.childOutcome }),
    ...(from.branches && { branches: decodeBranches(from.branches) }),
    ...carried(from),
  };
}

function decodeBranches(from: BranchesMessage): Branches {
  const { count, done, failed, next } = from;
  return { count, done, failed, next, ...carried(from) };
}

export function encodeField(field: FieldValue): Uint8Array {
  if (!field.reference) return encodeBytes(1, field.bytes);
  return toBinary(FieldCellSchema, create(FieldCellSchema, { value: field.bytes, reference: field.reference }));
}

/** The answer's bytes are views of `cell`. */
export function decodeField(cell: Uint8Array): FieldValue {
  const from = fromBinary(FieldCellSchema, cell);
  return from.reference ? { bytes: from.value, reference: from.reference } : { bytes: from.value };
}

/** `epoch` is that of the write that records them. */
export function encodeExecutions(executions: readonly CoreExecution[], epoch: number): Uint8Array {
  return encode(executions, (executions) => {
    for (const execution of executions) {
      message(1, execution, (execution) => {
        fillExecution(execution);
        unsigned(12, epoch);
      });
    }
  });
}

function fillExecution(execution: CoreExecution): void {
  text(1, execution.step);
  unsigned(2, execution.round);
  unsigned(3, execution.attempt);
  text(4, execution.module);
  text(5, execution.endpoint);
  unsigned(6, execution.ending);
  optionalUnsigned(7, execution.code);
  text(8, execution.message);
  unsigned(9, execution.startedMs);
  unsigned(10, execution.durationUs);
  unsigned(11, execution.droppedFields);
}

export function decodeExecutions(batch: Uint8Array): Execution[] {
  return fromBinary(ExecutionBatchSchema, batch).executions;
}

export function encodeEvent(event: InboxEvent): Uint8Array {
  return toBinary(InboxEventSchema, event);
}

export function decodeEvent(bytes: Uint8Array): InboxEvent {
  return fromBinary(InboxEventSchema, bytes);
}

/** The alarm without its count and times, which the store keeps beside it. */
export function encodeAlarm(raised: AlarmRaised): Uint8Array {
  const { key, kind, business, flow, itemKey, step, module, message } = raised;
  return toBinary(AlarmSchema, create(AlarmSchema, { key, kind, business, flow, itemKey, step, module, message }));
}

export function decodeAlarm(bytes: Uint8Array, firstMs: number, lastMs: number, count: number): Alarm {
  const alarm = fromBinary(AlarmSchema, bytes);
  alarm.firstMs = BigInt(firstMs);
  alarm.lastMs = BigInt(lastMs);
  alarm.count = BigInt(count);
  return alarm;
}
