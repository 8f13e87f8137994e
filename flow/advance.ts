// What a run does by itself: steps whose predecessors are settled begin or are skipped, a run with nothing left ends.

import { Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { callOf } from './action-of.ts';
import type { Draft } from './draft.ts';
import { advanceEnding, endRun } from './ending.ts';
import type { JoinAction, PlanStep } from './plan.ts';
import type { StepState } from './run.ts';
import { printableKey, printableRun } from './run-id.ts';
import { isArmed, isSettled } from './step-status.ts';
import { startCall } from './steps/call.ts';
import { startChild } from './steps/child.ts';
import { holds } from './steps/condition.ts';
import { advanceForEach, startForEach } from './steps/for-each.ts';
import { runInline } from './steps/inline.ts';
import { doneBefore, failJoin, joinStanding, runJoin } from './steps/join.ts';
import { runSwitch } from './steps/switch.ts';
import { startWait } from './steps/wait.ts';

export function advance(draft: Draft): void {
  if (draft.status.state === State.OPEN) advanceOpen(draft);
  if (draft.status.state === State.ENDING) advanceEnding(draft);
}

function advanceOpen(draft: Draft): void {
  // The run was moved to another version: its next holder decides with that one's plan.
  if (draft.control.flowVersion !== draft.plan.version) return;
  for (const [id, state] of draft.changes.steps) {
    const step = state?.status === StepStatus.FAILED ? draft.plan.byId.get(id) : undefined;
    if (step && !isDispensable(draft, step)) return failRun(draft, step);
  }
  // One pass is enough: the steps stand in topological order, so whoever follows a step that settles now comes later.
  for (const step of draft.plan.steps) {
    if (isArmed(draft.step(step.id)?.status)) consider(draft, step);
    else if (step.action.kind === 'for_each') advanceForEach(draft, step, step.action);
    const failed = draft.step(step.id)?.status === StepStatus.FAILED;
    if (failed && !isDispensable(draft, step)) return failRun(draft, step);
  }
  // Counted at the end: a join may have cancelled steps before it.
  const unsettled = draft.plan.steps.filter(({ id }) => !isSettled(draft.step(id)?.status)).length;
  if (unsettled === 0) return endRun(draft, { outcome: State.SUCCEEDED, reason: Reason.UNSPECIFIED, detail: '' });
  if (draft.context.nowMs >= draft.control.deadlineMs) {
    const detail = `the run's deadline passed with ${unsettled} steps unsettled`;
    endRun(draft, { outcome: State.FAILED, reason: Reason.DEADLINE, detail });
  }
}

/** A join may do without the branch of this step, and has not failed for the want of it; or may itself be done without. */
function isDispensable(draft: Draft, step: PlanStep): boolean {
  const join = step.join === undefined ? undefined : draft.plan.byId.get(step.join);
  if (!join) return false;
  return draft.step(join.id)?.status !== StepStatus.FAILED || isDispensable(draft, join);
}

/** A join that stops those that lost has gone on without this step, which a retry that moved to another version has re-armed. */
function hasLost(draft: Draft, step: PlanStep): boolean {
  const join = step.join === undefined ? undefined : draft.plan.byId.get(step.join);
  if (!join) return false;
  const stops = join.action.kind === 'join' && join.action.cancels;
  return (stops && draft.step(join.id)?.status === StepStatus.DONE) || hasLost(draft, join);
}

function consider(draft: Draft, step: PlanStep): void {
  if (hasLost(draft, step)) return draft.settle(step.id, StepStatus.CANCELLED);
  const reached = reach(draft, step);
  if (reached === 'not yet') return;
  if (reached === 'dead') return draft.settle(step.id, StepStatus.SKIPPED, { reason: Reason.JOIN });
  if (reached === 'skipped' || !holds(draft, step)) {
    // A condition that can't be evaluated has failed the step already.
    if (draft.step(step.id)?.status !== StepStatus.FAILED) skip(draft, step);
    return;
  }
  const { action } = step;
  switch (action.kind) {
    case 'call':
      return startCall(draft, step.id, action);
    case 'callback':
      return startCall(draft, step.id, action.call);
    case 'switch':
      return runSwitch(draft, step, action);
    case 'inline':
      return runInline(draft, step, action);
    case 'join':
      return reached === 'too few' ? failJoin(draft, step, action) : runJoin(draft, step, action);
    case 'wait':
      return startWait(draft, step, action);
    case 'sub_flow':
    case 'start_flow':
      return startChild(draft, step.id, action);
    case 'for_each':
      return startForEach(draft, step, action);
  }
}

function skip(draft: Draft, { id, action }: PlanStep): void {
  const chosen = action.kind === 'join' ? doneBefore(draft, action) : [];
  draft.settle(id, StepStatus.SKIPPED, { chosen });
}

type Reach = 'reached' | 'skipped' | 'too few' | 'not yet' | 'dead';

/**
 * A step is reached when all its predecessors are settled and at least one of them was not skipped. Where switches may choose
 * a step, one of them must have: its other predecessors only say when. Behind a step that failed, which only a join can do
 * without, nothing is reached but that join.
 */
function reach(draft: Draft, step: PlanStep): Reach {
  const before =
    step.action.kind === 'join' && step.action.need > 0 ? joinReach(draft, step, step.action) : plainReach(draft, step);
  if (before === 'not yet' || before === 'dead' || step.choosers.length === 0) return before;
  let chosen = false;
  let anyDead = false;
  for (const id of step.choosers) {
    const state = draft.step(id);
    if (!isSettled(state?.status)) return 'not yet';
    if (state?.status === StepStatus.DONE) chosen ||= state.chosen.includes(step.id);
    else anyDead ||= isDead(state);
  }
  if (!chosen) return anyDead ? 'dead' : 'skipped';
  return before === 'too few' ? before : 'reached';
}

function plainReach(draft: Draft, step: PlanStep): Reach {
  let anyDone = step.after.length === 0;
  let anyDead = false;
  for (const id of step.after) {
    const state = draft.step(id);
    if (!isSettled(state?.status)) return 'not yet';
    if (state?.status === StepStatus.DONE) anyDone = true;
    else anyDead ||= isDead(state);
  }
  if (anyDead) return 'dead';
  return anyDone ? 'reached' : 'skipped';
}

/** Settled without being done, because something failed or was stopped; not because it wasn't taken. */
function isDead(state: StepState | undefined): boolean {
  return state?.status !== StepStatus.SKIPPED || state.reason !== Reason.UNSPECIFIED;
}

function joinReach(draft: Draft, step: PlanStep, action: JoinAction): Reach {
  const stands = joinStanding(draft, step, action);
  return stands === 'enough' ? 'reached' : stands;
}

function failRun(draft: Draft, step: PlanStep): void {
  const state = draft.step(step.id);
  const detail = `step ${step.id}: ${state?.message ?? ''}`;
  const evidence = [`key ${printableKey(draft.control.itemKey)}`, `step ${step.id}`];
  const module = callOf(draft, step.id)?.module;
  if (module !== undefined) evidence.push(`module ${module}`);
  if (state?.child !== undefined) evidence.push(`run ${printableRun(state.child)}`);
  endRun(draft, { outcome: State.FAILED, reason: state?.reason ?? Reason.UNSPECIFIED, detail, evidence });
}
