// Ending: first the outcome is fixed, then the obligations are done one by one, then the status is terminal (protocol §7).

import { ExitState } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { AlarmKind, Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { actionOf } from './action-of.ts';
import { branchOf } from './branch-path.ts';
import type { Draft } from './draft.ts';
import { endingDeadlineMs, exitCallUndone } from './exit-call.ts';
import type { PlanExitCall } from './plan.ts';
import { printableRun } from './run-id.ts';
import { isArmed, isSettled, isUnderWay } from './step-status.ts';
import { startCall } from './steps/call.ts';
import { endTold, isTelling, tellCancel } from './tell.ts';

interface Outcome {
  readonly outcome: State;
  readonly reason: Reason;
  readonly detail: string;
  readonly evidence?: readonly string[];
}

/** Fixes the outcome: nothing that arrives later changes it. */
export function endRun(draft: Draft, { outcome, reason, detail, evidence = [] }: Outcome): void {
  const wasParked = draft.status.state === State.PARKED;
  for (const [id] of [...draft.reached()]) {
    if (!isTelling(id)) stopStep(draft, id);
    // What a parked run had to tell was put aside with it.
    else if (wasParked) draft.calls.add(id);
  }
  const outcomeNumber = draft.status.outcomeNumber + 1;
  const sinceMs = draft.context.nowMs;
  draft.setControl({
    status: { ...draft.status, state: State.ENDING, reason, detail, outcomeNumber, outcome, sinceMs, evidence },
  });
  endTold(draft);
  if (outcome === State.FAILED) {
    const key = `failed/${draft.runId}/${outcomeNumber}`;
    draft.alarm(AlarmKind.RUN_FAILED, key, `${printableRun(draft.runId)} FAILED(${Reason[reason]}): ${detail}`);
  }
}

/** Nobody waits for this step any more: its call is aborted, its child cancelled. Does nothing to one that is not under way. */
export function stopStep(draft: Draft, path: string): void {
  const state = draft.step(path);
  if (!state || !isUnderWay(state.status)) return;
  const action = actionOf(draft, path);
  if (state.status === StepStatus.RUNNING) draft.aborts.add(path);
  if (action?.kind === 'sub_flow') tellCancel(draft, path);
  draft.settle(path, StepStatus.CANCELLED);
  if (action?.kind === 'for_each') {
    for (const [branch] of [...draft.reached()]) if (branchOf(branch)?.step === path) stopStep(draft, branch);
  }
}

export function advanceEnding(draft: Draft): void {
  for (const [id] of draft.reached()) if (isTelling(id)) return;
  const late = draft.context.nowMs >= endingDeadlineMs(draft);
  let open = 0;
  for (const exit of obligations(draft)) {
    const state = draft.step(exit.id);
    if (state === undefined || isArmed(state.status)) startCall(draft, exit.id, exit.action);
    else if (late) giveUp(draft, exit.id, 'not done within the time that ending may take');
    if (!isSettled(draft.step(exit.id)?.status)) open++;
  }
  if (open > 0) return;
  const { outcome } = draft.status;
  draft.setControl({
    status: { ...draft.status, state: outcome, outcome: State.UNSPECIFIED, sinceMs: draft.context.nowMs },
  });
}

/** Leaves undone what is not done yet. */
export function giveUpEnding(draft: Draft, why: string): void {
  for (const [id] of [...draft.reached()]) {
    if (!isTelling(id)) continue;
    draft.aborts.add(id);
    draft.removeStep(id);
    exitCallUndone(draft, id, why);
  }
  for (const { id } of obligations(draft)) giveUp(draft, id, why);
}

function giveUp(draft: Draft, id: string, why: string): void {
  const status = draft.step(id)?.status;
  if (isSettled(status)) return;
  if (status === StepStatus.RUNNING) draft.aborts.add(id);
  draft.settle(id, StepStatus.CANCELLED, { reason: Reason.DEADLINE });
  exitCallUndone(draft, id, why);
}

function obligations(draft: Draft): PlanExitCall[] {
  const exitState = exitStates[draft.status.outcome];
  return draft.plan.exitCalls.filter((exit) => exitState !== undefined && exit.when.has(exitState));
}

const exitStates: Partial<Record<State, ExitState>> = {
  [State.SUCCEEDED]: ExitState.SUCCEEDED,
  [State.FAILED]: ExitState.FAILED,
  [State.CANCELLED]: ExitState.CANCELLED,
};
