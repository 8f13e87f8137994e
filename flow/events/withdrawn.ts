// A call that had not gone out was taken back, since its holder is leaving: nothing happened, so nothing is spent. The step waits
// to be called by the next holder.

import { StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import type { WithdrawnEvent } from '../event.ts';

export function withdrawn(draft: Draft, event: WithdrawnEvent): void {
  const step = draft.step(event.step);
  if (step?.status !== StepStatus.RUNNING || step.round !== event.round) return;
  draft.setStep(event.step, { ...step, status: StepStatus.SLEEPING, dueMs: draft.context.nowMs });
}
