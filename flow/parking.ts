// Parking: a run that harms whoever touches it is put aside with its evidence, for a person to look at.

import { AlarmKind, Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { callOf } from './action-of.ts';
import type { Draft } from './draft.ts';
import { printableKey } from './run-id.ts';

/** Claims without an accepted commit, before a run is parked: a run that kills its holder is not a matter of bad luck any more. */
export const maxBarrenClaims = 16;

export function park(draft: Draft, detail: string, endpoint = ''): void {
  const evidence = [`key ${printableKey(draft.control.itemKey)}`];
  for (const [id, state] of draft.reached()) {
    if (state.status !== StepStatus.RUNNING) continue;
    if (callOf(draft, id)) evidence.push(`step ${id}: ${state.losses} losses`);
    // The calls stay RUNNING in the store, since nobody will know their end; releasing the run begins a new round.
    draft.aborts.add(id);
    draft.calls.delete(id);
  }
  if (endpoint !== '') evidence.push(`endpoint ${endpoint}`);
  for (const execution of draft.changes.executions) {
    if (execution.endpoint !== '' && execution.endpoint !== endpoint) evidence.push(`endpoint ${execution.endpoint}`);
  }
  const status = {
    ...draft.status,
    state: State.PARKED,
    reason: Reason.POISON,
    detail,
    evidence,
    sinceMs: draft.context.nowMs,
  };
  draft.setControl({ status });
  draft.alarm(AlarmKind.RUN_PARKED, `parked/${draft.runId}`, detail);
}
