// Which steps run again when a run that has ended is retried or rewound.

import { Reason, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { actionOf } from './action-of.ts';
import { emptyBits } from './bits.ts';
import { branchOf } from './branch-path.ts';
import { removeResults } from './branch-result.ts';
import { type Draft, rearmed } from './draft.ts';
import { isExitCall } from './exit-call.ts';
import type { StepState } from './run.ts';

/**
 * Retry: what failed, what was cancelled with it and what was skipped because of it. What is done stays done; so do the losers
 * of a join that is, except when the run is moved to another version, which may need what this one does without. A step keeps its
 * child, which is retried too, and the branches that are done. Always true: nothing that is asked for is missing.
 */
export function rearmFailed(draft: Draft, isMoved: boolean): boolean {
  for (const [path, step] of [...draft.reached()]) {
    const hasFailed = step.status === StepStatus.FAILED || step.status === StepStatus.CANCELLED;
    const isDead = step.status === StepStatus.SKIPPED && step.reason !== Reason.UNSPECIFIED;
    if (isExitCall(path)) draft.setStep(path, rearmed(step));
    else if ((!hasFailed && !isDead) || staysSo(draft, path, isMoved)) continue;
    // A branch without a child begins anew when its turn comes.
    else if (branchOf(path) && step.child === undefined) draft.removeStep(path);
    else draft.setStep(path, retried(step));
  }
  return true;
}

/** Rewind: a step and all that follows it, as if they had never been reached. False when the flow has no such step. */
export function rewindTo(draft: Draft, id: string, isMoved: boolean): boolean {
  if (!draft.plan.byId.has(id)) return false;
  const again = new Set([id]);
  // The steps stand in topological order: whoever follows one of these comes later.
  for (const step of draft.plan.steps) {
    if (again.has(step.id)) for (const next of step.successors) again.add(next);
  }
  for (const [path, step] of [...draft.reached()]) {
    const branch = branchOf(path);
    if (branch && again.has(branch.step)) draft.removeStep(path);
    if (again.has(path)) forget(draft, path, step);
  }
  // Behind it, since losers of a join that is decided anew have another chance.
  return rearmFailed(draft, isMoved);
}

function forget(draft: Draft, id: string, before: StepState): void {
  for (const key of draft.fieldsOf(id)) draft.removeField(key);
  const action = actionOf(draft, id);
  if (action?.kind === 'for_each') removeResults(draft, id, action, before.branches?.count ?? 0);
  draft.setStep(id, rearmed(before));
}

/** What did without it has gone on, and goes on with the same flow. What a list that is done has borne stays so in any case. */
function staysSo(draft: Draft, path: string, isMoved: boolean): boolean {
  const branch = branchOf(path);
  const isBorne = branch !== undefined && draft.step(branch.step)?.status === StepStatus.DONE;
  return isBorne || (!isMoved && isDoneWithout(draft, path));
}

/** What it was for is done without it: a loser of a join, a branch that might fail. */
export function isDoneWithout(draft: Draft, path: string): boolean {
  const branch = branchOf(path);
  if (branch) return draft.step(branch.step)?.status === StepStatus.DONE || isDoneWithout(draft, branch.step);
  const join = draft.plan.byId.get(path)?.join;
  return join !== undefined && (draft.step(join)?.status === StepStatus.DONE || isDoneWithout(draft, join));
}

function retried(step: StepState): StepState {
  const { child, branches } = step;
  return {
    ...rearmed(step),
    ...(child !== undefined && { child }),
    ...(branches && { branches: { ...branches, failed: emptyBits(branches.count), next: 0 } }),
  };
}
