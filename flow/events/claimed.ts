// A dispatch takes the run. Whatever was out has no owner any more: each such call is a loss. What is repeated without harm, a
// run to start or something to tell, is done again.

import { Ending, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { callOf } from '../action-of.ts';
import type { Draft } from '../draft.ts';
import { giveUpEnding } from '../ending.ts';
import type { ClaimedEvent } from '../event.ts';
import { maxBarrenClaims, park } from '../parking.ts';
import { loseCall } from '../steps/call.ts';
import { wakeSleepers } from '../wake.ts';

export function claimed(draft: Draft, event: ClaimedEvent): void {
  const { state } = draft.status;
  if (state !== State.OPEN && state !== State.ENDING) return;
  if (event.barrenClaims > maxBarrenClaims) {
    // The outcome of an ending run is fixed: what can't be told to others is given up.
    if (state === State.ENDING)
      return giveUpEnding(draft, `claimed ${event.barrenClaims} times without an accepted commit`);
    return park(
      draft,
      `claimed ${event.barrenClaims} times without an accepted commit, ${maxBarrenClaims} times are allowed`,
    );
  }
  for (const [id, step] of [...draft.reached()]) {
    if (step.status !== StepStatus.RUNNING) continue;
    const call = callOf(draft, id);
    if (!call) {
      draft.calls.add(id);
      continue;
    }
    draft.record({
      step: id,
      round: step.round,
      attempt: step.attempts + 1,
      module: call.module,
      endpoint: '',
      ending: Ending.LOST,
      message: 'the holder of the run was lost while the call was out',
      startedMs: step.startedMs,
      durationUs: 0,
      droppedFields: 0,
    });
    loseCall(draft, id, step, '');
    if (draft.status.state === State.PARKED) return;
  }
  wakeSleepers(draft);
}
