// Calls made when a run ends. They are stored like steps, under `exit/<index>`, and never change the outcome.

import { AlarmKind } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from './draft.ts';
import type { PlanExitCall } from './plan.ts';

const prefix = 'exit/';

export function isExitCall(id: string): boolean {
  return id.startsWith(prefix);
}

export function exitCall(draft: Draft, id: string): PlanExitCall | undefined {
  return isExitCall(id) ? draft.plan.exitCalls.find((exit) => exit.id === id) : undefined;
}

/** When exit calls that are still open are given up, in ms since 1970. */
export function endingDeadlineMs(draft: Draft): number {
  return draft.status.sinceMs + draft.context.endingDeadlineMs;
}

/** An exit call that will not be made any more: it doesn't change the outcome, but somebody should know. */
export function exitCallUndone(draft: Draft, id: string, message: string): void {
  draft.alarm(AlarmKind.EXIT_CALL_UNDONE, `${id}/${draft.runId}/${draft.status.outcomeNumber}`, message, { step: id });
}
