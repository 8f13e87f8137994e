// FOR_EACH (DYNAMIC_FORK): does the same for every element of a list, so many at a time, and joins the results in the order of the
// list.
//
// The step's own state has a bit for each element that is dealt with; only the branches under way have states of their own. So
// a change costs the same however many are finished: two bits in the step's state, one result, one state gone, one begun.

import { Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { countBits, emptyBits, hasBit, withBit } from '../bits.ts';
import { branchOf, branchPath } from '../branch-path.ts';
import { joinedResults, removeResults } from '../branch-result.ts';
import { type Draft, unreached } from '../draft.ts';
import { stopStep } from '../ending.ts';
import { elementsOf } from '../list-elements.ts';
import type { ForEachAction, PlanStep } from '../plan.ts';
import { type Branches, fieldKey } from '../run.ts';
import { isUnderWay } from '../step-status.ts';
import { startCall } from './call.ts';
import { startChild } from './child.ts';

export function startForEach(draft: Draft, step: PlanStep, action: ForEachAction): void {
  const { nowMs } = draft.context;
  const before = draft.step(step.id) ?? unreached(nowMs);
  const elements = elementsOf(draft, step.id, action);
  if (elements.kind === 'error') return draft.fail(step.id, Reason.INPUT, elements.message);
  const count = elements.items.length;
  const branches = keptBranches(draft, step.id, action, count);
  draft.setStep(step.id, { ...before, status: StepStatus.WAITING, startedMs: nowMs, dueMs: 0, branches });
  // A child that went on by itself may have ended already, and one that ended while the run was parked was never taken in.
  for (const [path, state] of [...draft.reached()]) {
    if (branchOf(path)?.step === step.id && state.status === StepStatus.DONE) draft.setStep(path, state);
  }
  takeIn(draft, step, action);
  begin(draft, step, action);
  advanceForEach(draft, step, action);
}

/** A retry finds what was done before, unless it moved to a version that goes through another list. */
function keptBranches(draft: Draft, id: string, action: ForEachAction, count: number): Branches {
  const before = draft.step(id)?.branches;
  if (before?.count === count) return before;
  if (before) removeResults(draft, id, action, before.count);
  for (const [path] of [...draft.reached()]) if (branchOf(path)?.step === id) draft.removeStep(path);
  return { count, done: emptyBits(count), failed: emptyBits(count), next: 0 };
}

/** Takes in the branches that this decision has ended, and begins others. */
export function advanceForEach(draft: Draft, step: PlanStep, action: ForEachAction): void {
  // A branch that can't begin has failed already, which makes room for another one.
  while (takeIn(draft, step, action)) begin(draft, step, action);
}

/** Answers whether there was something to take in. */
function takeIn(draft: Draft, step: PlanStep, action: ForEachAction): boolean {
  const before = draft.step(step.id);
  if (before?.status !== StepStatus.WAITING || !before.branches) return false;
  let { branches, message } = { branches: before.branches, message: before.message };
  for (const path of [...draft.changes.steps.keys()]) {
    const branch = branchOf(path);
    if (branch?.step !== step.id) continue;
    // Released. What a retry re-arms has its turn later.
    const isReleased = draft.step(path)?.status === StepStatus.REARMED && branch.index < branches.next;
    if (isReleased) startBranch(draft, path, action);
    const state = draft.step(path);
    if (!state) continue;
    if (state.status === StepStatus.DONE) branches = { ...branches, done: withBit(branches.done, branch.index) };
    else if (state.status === StepStatus.FAILED && !hasBit(branches.failed, branch.index)) {
      if (message === '') message = `branch ${branch.index}: ${state.message}`;
      branches = { ...branches, failed: withBit(branches.failed, branch.index) };
    } else continue;
    // A retry asks the child of a failed branch to go on, so it has to know it.
    if (state.status === StepStatus.DONE || state.child === undefined) draft.removeStep(path);
  }
  if (branches === before.branches) return false;
  draft.setStep(step.id, { ...before, message, branches });
  return true;
}

/** Begins as many branches as may be under way, or ends the step. */
function begin(draft: Draft, step: PlanStep, action: ForEachAction): void {
  const state = draft.step(step.id);
  if (!state?.branches) return;
  const { count, done, failed } = state.branches;
  const failures = countBits(failed);
  if (failures > action.maxFailures) {
    const message = `${failures} of ${count} branches failed, ${action.maxFailures} may; ${state.message}`;
    draft.fail(step.id, Reason.BRANCHES, message);
    for (const [path] of [...draft.reached()]) if (branchOf(path)?.step === step.id) stopStep(draft, path);
    return;
  }
  if (countBits(done) + failures === count) {
    draft.setField(fieldKey(step.id, action.into.name), { bytes: joinedResults(draft, step.id, count) });
    return draft.settle(step.id, StepStatus.DONE);
  }
  let { next } = state.branches;
  for (let live = liveBranches(state.branches); live < action.concurrency && next < count; next++) {
    if (hasBit(done, next) || hasBit(failed, next)) continue;
    live++;
    const path = branchPath(step.id, next);
    const before = draft.step(path) ?? { ...unreached(draft.context.nowMs), round: state.round };
    // Its child goes on by itself.
    if (isUnderWay(before.status)) continue;
    draft.setStep(path, { ...before, status: StepStatus.REARMED });
    startBranch(draft, path, action);
  }
  draft.setStep(step.id, { ...state, branches: { ...state.branches, next } });
}

function startBranch(draft: Draft, path: string, { branch }: ForEachAction): void {
  if (branch.kind === 'call') startCall(draft, path, branch);
  else startChild(draft, path, branch);
}

/** Begun in this round and not dealt with: from the bits, since the states of those that failed may be kept by the thousand. */
function liveBranches({ next, done, failed }: Branches): number {
  return next - countBits(done, next) - countBits(failed, next);
}
