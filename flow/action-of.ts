// What stands behind a path among the steps of a run: a step of the flow, a branch of one, an exit call.

import { branchOf } from './branch-path.ts';
import type { Draft } from './draft.ts';
import { exitCall } from './exit-call.ts';
import type { Action, CallAction } from './plan.ts';

/** Undefined for what is no step of this version: it was one of the version before a retry, or is something to tell. */
export function actionOf(draft: Draft, path: string): Action | undefined {
  const step = draft.plan.byId.get(path);
  if (step) return step.action;
  const branch = branchOf(path);
  if (!branch) return exitCall(draft, path)?.action;
  const owner = draft.plan.byId.get(branch.step)?.action;
  return owner?.kind === 'for_each' ? owner.branch : undefined;
}

/** The call that a path makes; undefined when it makes none. */
export function callOf(draft: Draft, path: string): CallAction | undefined {
  const action = actionOf(draft, path);
  if (action?.kind === 'callback') return action.call;
  return action?.kind === 'call' ? action : undefined;
}

/** As `callOf`, where there must be one. */
export function callAction(draft: Draft, path: string): CallAction {
  const call = callOf(draft, path);
  if (call) return call;
  throw new Error(`invariant: ${draft.plan.name} version ${draft.plan.version} has no call ${path}`);
}
