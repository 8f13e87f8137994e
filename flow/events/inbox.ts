// Events from outside. Each is consumed by the decision that saw it, also when it comes too late to matter.

import { type InboxEvent, Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Draft, rearmed } from '../draft.ts';
import { endRun } from '../ending.ts';
import { isExitCall } from '../exit-call.ts';
import { isLevel } from '../level.ts';

export function inboxArrived(draft: Draft, event: InboxEvent): void {
  draft.changes.consumed.push(event.id);
  switch (event.kind.case) {
    case 'cancel':
      return cancel(draft, event.kind.value.cause);
    case 'retry':
      return retry(draft, event.kind.value.outcomeNumber);
    case 'release':
      return release(draft);
    case 'level':
      return changeLevel(draft, event.kind.value.level);
    case undefined:
      // Written by a newer engine: nothing here waits for it.
      return;
  }
}

/** In one batch cancel goes before retry, so that a retry meets the outcome that the cancel made. */
export function inInboxOrder(events: readonly InboxEvent[]): InboxEvent[] {
  const cancels = events.filter((event) => event.kind.case === 'cancel');
  return [...cancels, ...events.filter((event) => event.kind.case !== 'cancel')];
}

function cancel(draft: Draft, cause: string): void {
  const { state } = draft.status;
  if (state !== State.OPEN && state !== State.PARKED) return;
  endRun(draft, { outcome: State.CANCELLED, reason: Reason.UNSPECIFIED, detail: cause });
}

/** Re-arms what failed and what was cancelled with it; what is done stays done. */
function retry(draft: Draft, outcomeNumber: number): void {
  const { status, superseded } = draft.control;
  const ended = status.state === State.FAILED || status.state === State.CANCELLED;
  if (!ended || superseded || status.outcomeNumber !== outcomeNumber) return;
  for (const [id, step] of [...draft.reached()]) {
    const failed = step.status === StepStatus.FAILED || step.status === StepStatus.CANCELLED;
    if (failed || isExitCall(id)) draft.setStep(id, rearmed(step));
  }
  reopen(draft);
}

/** A person lets a parked run go on: the calls that were lost begin a new round. */
function release(draft: Draft): void {
  if (draft.status.state !== State.PARKED) return;
  for (const [id, step] of [...draft.reached()]) {
    if (step.status === StepStatus.RUNNING) draft.setStep(id, rearmed(step));
  }
  reopen(draft);
}

function reopen(draft: Draft): void {
  const { nowMs } = draft.context;
  draft.setControl({
    deadlineMs: nowMs + draft.plan.deadlineMs,
    status: {
      ...draft.status,
      state: State.OPEN,
      reason: Reason.UNSPECIFIED,
      detail: '',
      outcome: State.UNSPECIFIED,
      sinceMs: nowMs,
      evidence: [],
    },
  });
}

function changeLevel(draft: Draft, level: number): void {
  const { state } = draft.status;
  if (isLevel(level) && (state === State.OPEN || state === State.PARKED)) draft.setControl({ level });
}
