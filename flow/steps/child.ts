// SUB_FLOW: runs another flow and waits for its end. START_FLOW: starts a run of another flow and goes on.
//
// A child is started by an effect that is repeated until somebody says how the child stands; it is called after the step's
// path and round, so a repetition finds it. When it ends it tells its parent; should that get lost, the parent looks itself
// after a while. A step that is retried keeps its child, which is retried too.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { actionOf } from '../action-of.ts';
import { branchOf } from '../branch-path.ts';
import { branchFields, setBranchResult } from '../branch-result.ts';
import { childKey, childName } from '../child-name.ts';
import { type Draft, unreached } from '../draft.ts';
import type { StartEffect } from '../effect.ts';
import type { ChildEnd, ChildSeen } from '../event.ts';
import type { StartFlowAction, SubFlowAction } from '../plan.ts';
import { type FieldValue, fieldKey, type RunId, type StepState } from '../run.ts';
import { callKey } from '../run-id.ts';

/** How long a parent waits to be told before it looks at its child itself, in ms; each time twice as long. */
const firstLookMs = 60_000;
const maxLookMs = 3_600_000;

export function startChild(draft: Draft, path: string, action: SubFlowAction | StartFlowAction): void {
  const absent = action.send.find((reading) => !draft.read(reading));
  if (absent) return draft.fail(path, Reason.INPUT, `send: field ${absent.name} is absent and has no default`);
  if (action.kind === 'start_flow' && chainLength(draft) >= action.maxChain) {
    const message = `started nothing: the chain of runs has its longest length, ${action.maxChain}`;
    return draft.settle(path, StepStatus.DONE, { message });
  }
  const before = draft.step(path) ?? unreached(draft.context.nowMs);
  draft.setStep(path, { ...before, status: StepStatus.RUNNING, startedMs: draft.context.nowMs, dueMs: 0 });
  draft.calls.add(path);
}

/** Derived from state alone, as a call is. */
export function startEffect(draft: Draft, path: string, action: SubFlowAction | StartFlowAction): StartEffect {
  const state = draft.step(path);
  if (!state) throw new Error(`invariant: step ${path} starts a run and was not reached`);
  const { control } = draft;
  const waits = action.kind === 'sub_flow';
  const fields: Array<readonly [string, FieldValue]> = [...branchFields(draft, path)];
  for (const reading of action.send) {
    const value = draft.read(reading);
    if (!value) throw new Error(`invariant: step ${path} is RUNNING without its field ${reading.name}`);
    fields.push([reading.name, value]);
  }
  const isRetry = state.child !== undefined && state.childOutcome === undefined;
  return {
    kind: 'start',
    step: path,
    round: state.round,
    name:
      state.child === undefined ? childName(draft, path) : { ...childName(draft, path), itemKey: keyOf(state.child) },
    level: control.level,
    ...(waits && { deadlineMs: control.deadlineMs }),
    rowKey: control.rowKey ?? control.itemKey,
    fields,
    parent: {
      run: draft.runId,
      step: path,
      round: state.round,
      waits,
      receive: action.kind === 'sub_flow' ? action.receive : [],
      chain: chainLength(draft) + (waits ? 0 : 1),
    },
    ...(isRetry && { retryId: callKey(draft.runId, `tell/retry/${path}`, state.round) }),
  };
}

/** What the effect found. */
export function childSeen(draft: Draft, path: string, round: number, seen: ChildSeen): void {
  const state = draft.step(path);
  const action = actionOf(draft, path);
  if (state?.status !== StepStatus.RUNNING || state.round !== round) return;
  if (action?.kind === 'start_flow') {
    if (seen.kind === 'refused') return draft.fail(path, Reason.CHILD, seen.message);
    return draft.settle(path, StepStatus.DONE, { child: seen.child });
  }
  if (action?.kind !== 'sub_flow') return;
  switch (seen.kind) {
    case 'refused':
      return draft.fail(path, Reason.CHILD, seen.message);
    case 'ended':
      // It was asked to come back from this outcome, and has not got round to it.
      if (isLate(state, seen.end)) return awaitChild(draft, path, state);
      return childEnds(draft, path, action, seen.child, seen.end);
    case 'open':
      return awaitChild(draft, path, { ...state, child: seen.child, childOutcome: state.childOutcome ?? 0 });
    case 'retried':
      return awaitChild(draft, path, { ...state, child: seen.child, childOutcome: seen.outcomeNumber });
  }
}

/** Waits to be told, and looks itself after a while. */
export function awaitChild(draft: Draft, path: string, state: StepState): void {
  const pauseMs = Math.min(maxLookMs, firstLookMs * 2 ** Math.min(state.declines, 16));
  const dueMs = draft.context.nowMs + pauseMs;
  draft.setStep(path, { ...state, status: StepStatus.WAITING, declines: state.declines + 1, dueMs });
}

/** The end of an outcome that the step knows already. Success always counts. */
function isLate({ childOutcome = 0 }: StepState, { outcome, outcomeNumber }: ChildEnd): boolean {
  return outcomeNumber <= childOutcome && outcome !== State.SUCCEEDED;
}

/** A child says that it has ended. What is told of an outcome that is over, or by another child, changes nothing. */
export function childEnded(draft: Draft, path: string, child: RunId, end: ChildEnd): void {
  const state = draft.step(path);
  const action = actionOf(draft, path);
  if (action?.kind !== 'sub_flow' || !state) return;
  if (state.status !== StepStatus.WAITING && state.status !== StepStatus.RUNNING) return;
  // Before anybody has seen the child its name tells that it is ours; while it is asked to go on, only success counts.
  const isOurs = state.child === undefined ? keyText(child) === childKey(draft, path) : child === state.child;
  const isNew = state.child === undefined || end.outcomeNumber > (state.childOutcome ?? Infinity);
  if (!isOurs || (!isNew && end.outcome !== State.SUCCEEDED)) return;
  if (state.status === StepStatus.RUNNING) draft.aborts.add(path);
  childEnds(draft, path, action, child, end);
}

/** Nobody told anything for a while: looks at the child. */
export function lookAtChild(draft: Draft, path: string): void {
  const state = draft.step(path);
  if (!state) return;
  draft.setStep(path, { ...state, status: StepStatus.RUNNING, dueMs: 0 });
  draft.calls.add(path);
}

function childEnds(draft: Draft, path: string, action: SubFlowAction, child: RunId, end: ChildEnd): void {
  const known = { child, childOutcome: end.outcomeNumber };
  if (end.outcome === State.SUCCEEDED && branchOf(path)) {
    const refusal = setBranchResult(draft, path, action.receive, end.fields);
    if (refusal === undefined) return draft.settle(path, StepStatus.DONE, known);
    return draft.settle(path, StepStatus.FAILED, { ...known, reason: Reason.CHILD, message: refusal });
  }
  if (end.outcome === State.SUCCEEDED) {
    for (const name of action.receive) {
      const value = end.fields.get(name);
      if (value) draft.setField(fieldKey(path, name), value);
    }
    return draft.settle(path, StepStatus.DONE, known);
  }
  const how = end.outcome === State.CANCELLED ? 'was cancelled' : `failed (${Reason[end.reason]})`;
  const message = `flow ${action.flow} ${how}${end.detail === '' ? '' : `: ${end.detail}`}`;
  draft.settle(path, StepStatus.FAILED, { ...known, reason: Reason.CHILD, message });
}

function chainLength(draft: Draft): number {
  return draft.control.parent?.chain ?? 1;
}

function keyOf(child: RunId): Uint8Array {
  return getTextEncoding().encodeUtf8(keyText(child));
}

/** Keys of children are ASCII. */
function keyText(child: RunId): string {
  return child.split('/').slice(3).join('/');
}
