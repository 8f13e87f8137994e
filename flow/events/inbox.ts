// Events from outside. Each is consumed by the decision that saw it, also when it comes too late to matter. Those that would reopen
// a run whose ending is not over stay where they are: the next holder finds them when it is.

import { type InboxEvent, Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { actionOf, callOf } from '../action-of.ts';
import { branchOf } from '../branch-path.ts';
import { type Draft, rearmed } from '../draft.ts';
import { endRun } from '../ending.ts';
import { isLevel } from '../level.ts';
import { isDoneWithout, rearmFailed, rewindTo } from '../rearm.ts';
import { isSettled, isUnderWay } from '../step-status.ts';
import { completeCall } from '../steps/call.ts';
import { awaitChild, childEnded } from '../steps/child.ts';
import { takeSignal } from '../steps/wait.ts';
import { reopeningTold, tellLevel } from '../tell.ts';
import { answerOf, endOf, fieldsOf } from './inbox-values.ts';

type Value<Case extends InboxEvent['kind']['case']> = Extract<InboxEvent['kind'], { case: Case }>['value'];

export function inboxArrived(draft: Draft, event: InboxEvent): void {
  if (draft.status.state === State.ENDING && mayReopen(draft, event)) return;
  draft.changes.consumed.push(event.id);
  const { kind } = event;
  switch (kind.case) {
    case 'cancel':
      return cancel(draft, kind.value.cause);
    case 'retry':
      return reopen(draft, kind.value, (isMoved) => rearmFailed(draft, isMoved));
    case 'rewind':
      return reopen(draft, kind.value, (isMoved) => rewindTo(draft, kind.value.step, isMoved));
    case 'release':
      return release(draft);
    case 'level':
      return changeLevel(draft, kind.value.level, event.id);
    case 'signal':
      if (isOpen(draft)) takeSignal(draft, kind.value.name, fieldsOf(kind.value.fields));
      return;
    case 'completed':
      return completed(draft, kind.value);
    case 'childEnded':
      return childHasEnded(draft, kind.value);
    case 'childReopened':
      return childReopened(draft, kind.value);
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

/** Whether an event is about the outcome that the run is ending with. */
function mayReopen(draft: Draft, { kind }: InboxEvent): boolean {
  const { status } = draft;
  switch (kind.case) {
    case 'retry':
    case 'rewind':
      return status.outcome !== State.SUCCEEDED && kind.value.outcomeNumber === status.outcomeNumber;
    case 'childReopened':
    case 'childEnded':
      return status.outcome === State.FAILED && failedWith(draft, kind.value.step, kind.value.child);
    default:
      return false;
  }
}

/** A parked run keeps what it waits for: its release may make the event matter. */
function isOpen({ status: { state } }: Draft): boolean {
  return state === State.OPEN || state === State.PARKED;
}

function cancel(draft: Draft, cause: string): void {
  if (!isOpen(draft)) return;
  endRun(draft, { outcome: State.CANCELLED, reason: Reason.UNSPECIFIED, detail: cause });
}

/** A person asks for a run that has ended to go on, with the version that they choose. Other outcomes than the one named are past. */
function reopen(draft: Draft, asked: Value<'retry' | 'rewind'>, rearm: (isMoved: boolean) => boolean): void {
  const { status, superseded, flowVersion } = draft.control;
  const next = asked.flowVersion === 0 ? flowVersion : asked.flowVersion;
  const ended = status.state === State.FAILED || status.state === State.CANCELLED;
  if (!ended || superseded || status.outcomeNumber !== asked.outcomeNumber || !rearm(next !== flowVersion)) return;
  reopeningTold(draft);
  open(draft, next);
}

/** A person lets a parked run go on: the calls that were lost begin a new round; what is repeated without harm is done again. */
function release(draft: Draft): void {
  if (draft.status.state !== State.PARKED) return;
  for (const [path, step] of [...draft.reached()]) {
    // Branches that ended meanwhile are taken in by this decision.
    if (branchOf(path) && isSettled(step.status)) draft.setStep(path, step);
    if (step.status !== StepStatus.RUNNING) continue;
    if (callOf(draft, path)) releaseCall(draft, path);
    else draft.calls.add(path);
  }
  open(draft, draft.control.flowVersion);
}

/** The rounds of branches follow their step's, so that no round of a branch comes twice. */
function releaseCall(draft: Draft, path: string): void {
  const step = draft.step(path);
  if (!step) return;
  const branch = branchOf(path);
  const owner = branch && draft.step(branch.step);
  if (!branch || !owner) return draft.setStep(path, rearmed(step));
  const round = Math.max(owner.round, step.round) + 1;
  draft.setStep(branch.step, { ...owner, round });
  draft.setStep(path, { ...rearmed(step), round });
}

function open(draft: Draft, flowVersion: number): void {
  const { nowMs } = draft.context;
  draft.setControl({
    flowVersion,
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

function changeLevel(draft: Draft, level: number, cause: string): void {
  if (!isLevel(level) || !isOpen(draft)) return;
  draft.setControl({ level });
  for (const [path, { status }] of [...draft.reached()]) {
    if (isUnderWay(status) && actionOf(draft, path)?.kind === 'sub_flow') tellLevel(draft, path, cause);
  }
}

function completed(draft: Draft, event: Value<'completed'>): void {
  const step = draft.step(event.step);
  if (!isOpen(draft) || !isUnderWay(step?.status) || step?.round !== event.round) return;
  completeCall(draft, event.step, answerOf(event));
}

function childHasEnded(draft: Draft, event: Value<'childEnded'>): void {
  const { child, end } = endOf(event);
  if (isOpen(draft)) return childEnded(draft, event.step, child, end);
  // It failed with us, was retried by itself, and has an end that we don't know yet.
  const known = draft.step(event.step)?.childOutcome ?? 0;
  if (!hasFailedWith(draft, event.step, child) || end.outcomeNumber <= known) return;
  goOnWith(draft, event.step);
  childEnded(draft, event.step, child, end);
}

function childReopened(draft: Draft, { step, child, outcomeNumber }: Value<'childReopened'>): void {
  const isCurrent = draft.step(step)?.childOutcome === outcomeNumber;
  if (isCurrent && hasFailedWith(draft, step, child)) goOnWith(draft, step);
}

/** The run has FAILED, among others because this child of this step did. */
function hasFailedWith(draft: Draft, path: string, child: string): boolean {
  const { status, superseded } = draft.control;
  return !superseded && status.state === State.FAILED && failedWith(draft, path, child);
}

function failedWith(draft: Draft, path: string, child: string): boolean {
  const step = draft.step(path);
  return step?.status === StepStatus.FAILED && step.child === child && !isDoneWithout(draft, path);
}

/** The step waits for its child again, and what was cancelled with it goes on too. */
function goOnWith(draft: Draft, path: string): void {
  const before = draft.step(path);
  rearmFailed(draft, false);
  // The child is going on by itself, so it isn't asked to.
  if (before) awaitChild(draft, path, { ...before, reason: Reason.UNSPECIFIED, message: '', endedMs: 0, declines: 0 });
  reopeningTold(draft);
  open(draft, draft.control.flowVersion);
}
