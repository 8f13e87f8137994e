// JOIN: goes on when enough of its predecessors are done, and says what becomes of the others.

import { Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import { stopStep } from '../ending.ts';
import type { JoinAction, PlanStep } from '../plan.ts';
import { isSettled } from '../step-status.ts';

/** How a join that does not need all of its predecessors stands. */
export type JoinStanding = 'enough' | 'too few' | 'skipped' | 'not yet';

/**
 * Branches that were not taken don't count: of three predecessors of which one was skipped, a join that needs three needs two.
 * A branch that failed or was stopped counts as one that will never be done.
 */
export function joinStanding(draft: Draft, step: PlanStep, { need }: JoinAction): JoinStanding {
  let done = 0;
  let failed = 0;
  let open = 0;
  for (const id of step.after) {
    const status = draft.step(id)?.status;
    if (status === StepStatus.DONE) done++;
    else if (!isSettled(status)) open++;
    else if (status !== StepStatus.SKIPPED || isDead(draft, id)) failed++;
  }
  if (done >= need) return 'enough';
  if (failed > 0 && done + open < need) return 'too few';
  if (open > 0) return 'not yet';
  return done > 0 ? 'enough' : 'skipped';
}

export function runJoin(draft: Draft, step: PlanStep, action: JoinAction): void {
  draft.settle(step.id, StepStatus.DONE, { chosen: doneBefore(draft, action) });
  if (!action.cancels) return;
  for (const id of action.branches) {
    const status = draft.step(id)?.status;
    if (status === undefined || status === StepStatus.REARMED) draft.settle(id, StepStatus.CANCELLED);
    else stopStep(draft, id);
  }
}

/** Of the steps that a join need not wait for, those that are done: behind it only what these left is seen. */
export function doneBefore(draft: Draft, { unawaited }: JoinAction): string[] {
  return [...unawaited].filter((id) => draft.step(id)?.status === StepStatus.DONE);
}

export function failJoin(draft: Draft, step: PlanStep, action: JoinAction): void {
  const [first] = [...action.branches]
    .filter((id) => draft.step(id)?.status === StepStatus.FAILED)
    .sort((one, other) => (draft.step(one)?.endedMs ?? 0) - (draft.step(other)?.endedMs ?? 0));
  const cause = first === undefined ? '' : `; step ${first}: ${draft.step(first)?.message ?? ''}`;
  draft.fail(step.id, Reason.JOIN, `fewer than ${action.need} of ${step.after.length} branches can be done${cause}`);
}

/** Skipped because a step before it failed, not because it wasn't taken. */
function isDead(draft: Draft, id: string): boolean {
  const state = draft.step(id);
  return state?.status === StepStatus.SKIPPED && state.reason !== Reason.UNSPECIFIED;
}
