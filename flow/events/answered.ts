// The end of a call. An answer to a call that nobody waits for changes nothing.

import { State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import type { AnsweredEvent } from '../event.ts';
import { answerCall } from '../steps/call.ts';

export function answered(draft: Draft, event: AnsweredEvent): void {
  const { state } = draft.status;
  if (state !== State.OPEN && state !== State.ENDING) return;
  const step = draft.step(event.step);
  if (step?.status !== StepStatus.RUNNING) return;
  if (step.round !== event.round || step.attempts + 1 !== event.attempt) return;
  answerCall(draft, event, step);
}
