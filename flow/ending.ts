// Ending: first the outcome is fixed, then the obligations are done one by one, then the status is terminal (protocol §7).

import { ExitState } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { AlarmKind, Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from './draft.ts';
import { endingDeadlineMs, exitCallUndone } from './exit-call.ts';
import type { PlanExitCall } from './plan.ts';
import { printableRun } from './run-id.ts';
import { startCall } from './steps/call.ts';

interface Outcome {
  readonly outcome: State;
  readonly reason: Reason;
  readonly detail: string;
  readonly evidence?: readonly string[];
}

/** Fixes the outcome: nothing that arrives later changes it. */
export function endRun(draft: Draft, { outcome, reason, detail, evidence = [] }: Outcome): void {
  for (const [id, state] of draft.reached()) {
    if (state.status !== StepStatus.RUNNING && state.status !== StepStatus.SLEEPING) continue;
    if (state.status === StepStatus.RUNNING) draft.aborts.add(id);
    draft.settle(id, StepStatus.CANCELLED);
  }
  const outcomeNumber = draft.status.outcomeNumber + 1;
  const sinceMs = draft.context.nowMs;
  draft.setControl({
    status: { ...draft.status, state: State.ENDING, reason, detail, outcomeNumber, outcome, sinceMs, evidence },
  });
  if (outcome === State.FAILED) {
    const key = `failed/${draft.runId}/${outcomeNumber}`;
    draft.alarm(AlarmKind.RUN_FAILED, key, `${printableRun(draft.runId)} FAILED(${Reason[reason]}): ${detail}`);
  }
}

export function advanceEnding(draft: Draft): void {
  const late = draft.context.nowMs >= endingDeadlineMs(draft);
  let open = 0;
  for (const exit of obligations(draft)) {
    const state = draft.step(exit.id);
    if (state === undefined || state.status === StepStatus.REARMED) startCall(draft, exit.id, exit.action);
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

function isSettled(status: StepStatus | undefined): boolean {
  return (
    status === StepStatus.DONE ||
    status === StepStatus.FAILED ||
    status === StepStatus.CANCELLED ||
    status === StepStatus.SKIPPED
  );
}
