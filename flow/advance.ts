// What a run does by itself: steps whose predecessors are settled begin or are skipped, a run with nothing left ends.

import { Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from './draft.ts';
import { advanceEnding, endRun } from './ending.ts';
import type { PlanStep } from './plan.ts';
import { printableKey } from './run-id.ts';
import { startCall } from './steps/call.ts';
import { holds } from './steps/condition.ts';
import { runInline } from './steps/inline.ts';
import { runSwitch } from './steps/switch.ts';

export function advance(draft: Draft): void {
  if (draft.status.state === State.OPEN) advanceOpen(draft);
  if (draft.status.state === State.ENDING) advanceEnding(draft);
}

function advanceOpen(draft: Draft): void {
  const failed = draft.plan.steps.find((step) => draft.changes.steps.get(step.id)?.status === StepStatus.FAILED);
  if (failed) return failRun(draft, failed);
  let unsettled = 0;
  // One pass is enough: the steps stand in topological order, so whoever follows a step that settles now comes later.
  for (const step of draft.plan.steps) {
    if (isArmed(draft, step.id)) consider(draft, step);
    const status = draft.step(step.id)?.status;
    if (status === StepStatus.FAILED) return failRun(draft, step);
    if (status !== StepStatus.DONE && status !== StepStatus.SKIPPED) unsettled++;
  }
  if (unsettled === 0) return endRun(draft, { outcome: State.SUCCEEDED, reason: Reason.UNSPECIFIED, detail: '' });
  if (draft.context.nowMs >= draft.control.deadlineMs) {
    const detail = `the run's deadline passed with ${unsettled} steps unsettled`;
    endRun(draft, { outcome: State.FAILED, reason: Reason.DEADLINE, detail });
  }
}

/** Not reached yet in this round. */
function isArmed(draft: Draft, id: string): boolean {
  const state = draft.step(id);
  return state === undefined || state.status === StepStatus.REARMED;
}

function consider(draft: Draft, step: PlanStep): void {
  const reached = reach(draft, step);
  if (reached === 'not yet') return;
  if (reached === 'skipped' || !holds(draft, step)) {
    // A condition that can't be evaluated has failed the step already.
    if (draft.step(step.id)?.status !== StepStatus.FAILED) draft.settle(step.id, StepStatus.SKIPPED);
    return;
  }
  switch (step.action.kind) {
    case 'call':
      return startCall(draft, step.id, step.action);
    case 'switch':
      return runSwitch(draft, step, step.action);
    case 'inline':
      return runInline(draft, step, step.action);
  }
}

/**
 * A step is reached when all its predecessors are settled and at least one of them was not skipped. Where switches may choose
 * a step, one of them must have: its other predecessors only say when.
 */
function reach(draft: Draft, step: PlanStep): 'reached' | 'skipped' | 'not yet' {
  let anyDone = step.after.length === 0;
  for (const id of step.after) {
    const status = draft.step(id)?.status;
    if (status === StepStatus.DONE) anyDone = true;
    else if (status !== StepStatus.SKIPPED) return 'not yet';
  }
  if (step.choosers.length === 0) return anyDone ? 'reached' : 'skipped';
  let chosen = false;
  for (const id of step.choosers) {
    const state = draft.step(id);
    if (state?.status === StepStatus.DONE) chosen ||= state.chosen.includes(step.id);
    else if (state?.status !== StepStatus.SKIPPED) return 'not yet';
  }
  return chosen ? 'reached' : 'skipped';
}

function failRun(draft: Draft, step: PlanStep): void {
  const state = draft.step(step.id);
  const detail = `step ${step.id}: ${state?.message ?? ''}`;
  const evidence = [`key ${printableKey(draft.control.itemKey)}`, `step ${step.id}`];
  if (step.action.kind === 'call') evidence.push(`module ${step.action.module}`);
  endRun(draft, { outcome: State.FAILED, reason: state?.reason ?? Reason.UNSPECIFIED, detail, evidence });
}
