// What a run has to say to other runs: to its parent when it ends, to its children when it is cancelled or changes its level.
// Each message has a state of its own, `tell/…`, from the decision until it is durable in the other's inbox; then it is gone.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type FieldCellSchema, InboxEventSchema, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { childName } from './child-name.ts';
import { type Draft, unreached } from './draft.ts';
import type { TellEffect } from './effect.ts';
import type { FieldValue } from './run.ts';
import { callKey } from './run-id.ts';

const prefix = 'tell/';

const tellParent = `${prefix}parent`;
const tellReopened = `${prefix}reopened`;

export function isTelling(path: string): boolean {
  return path.startsWith(prefix);
}

/** Tells the parent that the run has ended; nothing when nobody waits for it. */
export function endTold(draft: Draft): void {
  if (draft.control.parent?.waits === true) tell(draft, tellParent);
}

/** Tells the parent that the outcome it heard of is no more. */
export function reopeningTold(draft: Draft): void {
  if (draft.control.parent?.waits === true) tell(draft, tellReopened, String(draft.status.outcomeNumber));
}

/** Asks the child of a step to stop. */
export function tellCancel(draft: Draft, step: string): void {
  // The outcome that is being decided: no request of another outcome has this name.
  tell(draft, `${prefix}cancel/${step}`, String(draft.status.outcomeNumber + 1));
}

/** Tells the child of a step about a new level; `cause` is the event that brought it. */
export function tellLevel(draft: Draft, step: string, cause: string): void {
  const path = `${prefix}level/${step}`;
  const before = draft.step(path);
  // What is on its way may be the level before: there is more to tell when it has arrived.
  if (before) draft.setStep(path, { ...before, message: cause, attempts: before.attempts + 1 });
  else tell(draft, path, cause);
}

/** Another run has been told. */
export function told(draft: Draft, path: string): void {
  const state = draft.step(path);
  if (!state) return;
  if (state.attempts > 0) tell(draft, path, state.message);
  else draft.removeStep(path);
}

function tell(draft: Draft, path: string, message = ''): void {
  const { nowMs } = draft.context;
  draft.setStep(path, { ...unreached(nowMs), status: StepStatus.RUNNING, message });
  draft.calls.add(path);
}

/** The message, derived from state alone. */
export function tellEffect(draft: Draft, path: string): TellEffect {
  const { control, status, runId } = draft;
  const [, what = '', ...rest] = path.split('/');
  const step = rest.join('/');
  const about = draft.step(path)?.message ?? '';
  const event = (kind: MessageInitShape<typeof InboxEventSchema>['kind'], id: string): TellEffect['event'] =>
    create(InboxEventSchema, { id, arrivedMs: BigInt(draft.context.nowMs), ...(kind && { kind }) });
  if (what === 'cancel' || what === 'level') {
    const child = draft.step(step)?.child;
    const to = child ?? childName(draft, step);
    const kind =
      what === 'cancel'
        ? ({ case: 'cancel', value: { cause: 'the run that waits for it has ended' } } as const)
        : ({ case: 'level', value: { level: control.level } } as const);
    const id = `${callKey(runId, path, draft.step(step)?.round ?? 1)}/${about}`;
    return {
      kind: 'tell',
      step: path,
      to,
      event: event(kind, id),
      ifAbsent: what === 'cancel' ? 'create cancelled' : 'nothing',
    };
  }
  const { parent } = control;
  if (!parent) throw new Error(`invariant: ${path} without a parent`);
  const outcomeNumber = what === 'parent' ? status.outcomeNumber : Number(about);
  const named = { step: parent.step, round: parent.round, child: runId, outcomeNumber };
  const kind =
    what === 'parent'
      ? ({
          case: 'childEnded',
          value: {
            ...named,
            outcome: status.outcome,
            reason: status.reason,
            detail: status.detail,
            fields: endFields(draft, parent.receive),
          },
        } as const)
      : ({ case: 'childReopened', value: named } as const);
  return {
    kind: 'tell',
    step: path,
    to: parent.run,
    event: event(kind, callKey(runId, path, outcomeNumber)),
    ifAbsent: 'nothing',
  };
}

function endFields(draft: Draft, names: readonly string[]): Record<string, MessageInitShape<typeof FieldCellSchema>> {
  const fields: Record<string, MessageInitShape<typeof FieldCellSchema>> = {};
  for (const name of names) {
    const value = draft.read(draft.plan.atEnd(name));
    if (value) fields[name] = fieldCell(value);
  }
  return fields;
}

function fieldCell({ bytes, reference }: FieldValue): MessageInitShape<typeof FieldCellSchema> {
  return reference ? { value: bytes, reference } : { value: bytes };
}
