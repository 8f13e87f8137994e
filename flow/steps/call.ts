// SIMPLE: a call of a module; and the calls of callbacks, of branches and on exit, which differ only in what their end means.

import { Ending, Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { actionOf, callAction } from '../action-of.ts';
import { declineBackoffMs, retryBackoffMs } from '../backoff.ts';
import { branchOf } from '../branch-path.ts';
import { branchFields, branchRefusal, setBranchResult } from '../branch-result.ts';
import { type Draft, unreached } from '../draft.ts';
import type { CallEffect } from '../effect.ts';
import type { Answer, AnsweredEvent, Try } from '../event.ts';
import { endingDeadlineMs, exitCall, exitCallUndone } from '../exit-call.ts';
import { decodeTyped } from '../field-type.ts';
import { park } from '../parking.ts';
import type { CallAction, CallbackAction } from '../plan.ts';
import { isDeclined, verdictOf } from '../return-code.ts';
import { type FieldValue, fieldKey, type StepState } from '../run.ts';
import { callKey } from '../run-id.ts';

export function startCall(draft: Draft, id: string, action: CallAction): void {
  const absent = action.send.find((reading) => !draft.read(reading));
  if (absent) return failCall(draft, id, Reason.INPUT, `send: field ${absent.name} is absent and has no default`);
  const before = draft.step(id) ?? unreached(draft.context.nowMs);
  draft.setStep(id, { ...before, status: StepStatus.RUNNING, startedMs: draft.context.nowMs, dueMs: 0 });
  draft.calls.add(id);
}

/** The call of a RUNNING step, derived from state alone: the same before and after a re-claim. */
export function callEffect(draft: Draft, id: string): CallEffect {
  const state = draft.step(id);
  if (!state) throw new Error(`invariant: call of step ${id} that was not reached`);
  const action = callAction(draft, id);
  const fields: Array<readonly [string, FieldValue]> = [...branchFields(draft, id)];
  for (const reading of action.send) {
    const value = draft.read(reading);
    if (!value) throw new Error(`invariant: step ${id} is RUNNING without its field ${reading.name}`);
    fields.push([reading.name, value]);
  }
  return {
    kind: 'call',
    step: id,
    callKey: callKey(draft.runId, id, state.round),
    module: action.module,
    round: state.round,
    attempt: state.attempts + 1,
    timeoutMs: action.timeoutMs,
    deadlineMs: exitCall(draft, id) ? endingDeadlineMs(draft) : draft.control.deadlineMs,
    // Half of the losses are bad luck at most; the other half it shall suffer, and cause, alone.
    isSuspect: state.losses > 0 && state.losses * 2 >= action.maxLosses,
    fields,
  };
}

export function answerCall(draft: Draft, event: AnsweredEvent, before: StepState): void {
  const { step: id, answer } = event;
  // What is kept of a callback comes later: this answer only says that the work was taken on.
  const isTakenOn = actionOf(draft, id)?.kind === 'callback';
  const heard = hear(draft, id, answer, !isTakenOn);
  recordTries(draft, event, callAction(draft, id), heard, answer.fields.size - heard.kept.length);
  const declined = event.tries.filter((attempt) => isDeclined(attempt.ending)).length;
  take(draft, id, before, { ...heard, endpoint: event.tries.at(-1)?.endpoint ?? '', declined, isTakenOn });
}

/** The later answer to a callback. It may come before the answer that says that the work was taken on. */
export function completeCall(draft: Draft, id: string, answer: Answer): void {
  const before = draft.step(id);
  const action = actionOf(draft, id);
  if (!before || action?.kind !== 'callback') return;
  const heard = hear(draft, id, answer, true);
  // It is asked again anyway, and whatever went wrong is spent already.
  if (before.status === StepStatus.SLEEPING && verdictOf(heard.ending).kind === 'retry') return;
  if (before.status === StepStatus.RUNNING) draft.aborts.add(id);
  recordLater(draft, id, before, action, heard, answer.fields.size - heard.kept.length);
  take(draft, id, before, { ...heard, endpoint: '', declined: 0, isTakenOn: false });
}

/** No later answer has come to a callback: that is an attempt. */
export function missAnswer(draft: Draft, id: string, action: CallbackAction): void {
  const before = draft.step(id);
  if (!before) return;
  const message = `no answer came within ${action.answerWithinMs} ms after the work was taken on`;
  recordLater(draft, id, before, action, { ending: Ending.TIMED_OUT, message, kept: [] }, 0);
  retryCall(draft, id, action.call, { ...before, message }, Reason.TIMEOUT);
}

/** Records what has become of work that was asked for: nobody knows which endpoint did it. */
function recordLater(
  draft: Draft,
  id: string,
  before: StepState,
  action: CallbackAction,
  { ending, code, message }: Heard,
  droppedFields: number,
): void {
  const { startedMs, round, attempts } = before;
  draft.record({
    step: id,
    round,
    attempt: attempts + 1,
    module: action.call.module,
    endpoint: '',
    ending,
    ...(code === undefined ? {} : { code }),
    message,
    startedMs,
    durationUs: Math.max(0, draft.context.nowMs - startedMs) * 1_000,
    droppedFields,
  });
}

interface Heard {
  readonly ending: Ending;
  readonly code?: number;
  readonly message: string;
  readonly kept: ReadonlyArray<readonly [string, FieldValue]>;
}

/** What an answer means here: one with a field that isn't what the flow declares it to be breaks the contract. */
function hear(draft: Draft, id: string, answer: Answer, keepsFields: boolean): Heard {
  const action = callAction(draft, id);
  const isKept = answer.ending === Ending.SUCCEEDED && keepsFields;
  const { fields, malformed } = isKept ? keep(draft, id, action, answer.fields) : { fields: [], malformed: undefined };
  const ending = malformed === undefined ? answer.ending : Ending.VIOLATION;
  const isUnsaid = answer.message === '' && ending !== Ending.SUCCEEDED;
  const message = malformed ?? (isUnsaid ? unsaid(action, ending) : answer.message);
  return {
    ending,
    message,
    kept: fields,
    ...(answer.code === undefined ? {} : { code: answer.code }),
  };
}

interface Taking extends Heard {
  readonly endpoint: string;
  /** Endpoints that declined. */
  readonly declined: number;
  /** The answer is that of a callback's request. */
  readonly isTakenOn: boolean;
}

function take(draft: Draft, id: string, before: StepState, taking: Taking): void {
  const { ending, code, message, kept, endpoint, declined } = taking;
  const action = callAction(draft, id);
  const verdict = verdictOf(ending);
  const state: StepState = {
    ...before,
    // Nobody reachable counts as one, so that the pauses grow then too.
    declines: before.declines + Math.max(declined, verdict.kind === 'decline' ? 1 : 0),
    message,
    ...(code === undefined ? {} : { code }),
  };
  draft.setStep(id, state);
  switch (verdict.kind) {
    case 'done':
      return taking.isTakenOn ? awaitAnswer(draft, id, state) : doneCall(draft, id, action, kept);
    case 'fail':
      return failCall(draft, id, verdict.reason, message);
    case 'retry':
      return retryCall(draft, id, action, state, verdict.reason);
    case 'decline':
      draft.alarm(verdict.alarm, `${Ending[ending]}/${action.module}`, message, { step: id, module: action.module });
      // Each call before asked about as many endpoints as this one did.
      return sleep(
        draft,
        id,
        state,
        declineBackoffMs(Math.ceil(state.declines / Math.max(1, declined)), draft.context.random),
      );
    case 'lost':
      return loseCall(draft, id, state, endpoint);
  }
}

function doneCall(draft: Draft, id: string, { receive }: CallAction, kept: Heard['kept']): void {
  if (branchOf(id)) {
    const refusal = setBranchResult(draft, id, receive, new Map(kept));
    // `keep` has measured it.
    if (refusal !== undefined) throw new Error(`invariant: ${refusal}`);
  } else {
    for (const [name, value] of kept) draft.setField(fieldKey(id, name), value);
  }
  draft.settle(id, StepStatus.DONE);
}

function awaitAnswer(draft: Draft, id: string, state: StepState): void {
  const action = actionOf(draft, id);
  if (action?.kind !== 'callback') throw new Error(`invariant: step ${id} awaits no answer`);
  draft.setStep(id, { ...state, status: StepStatus.WAITING, dueMs: draft.context.nowMs + action.answerWithinMs });
}

/**
 * A call whose end nobody knows: it is repeated with the same key, up to a limit. At once the first time, when bad luck is
 * likely; then with growing pauses, in which whoever shares the fate of a poison item gets done without it, and in the end alone.
 */
export function loseCall(draft: Draft, id: string, before: StepState, endpoint: string): void {
  const action = callAction(draft, id);
  const state = { ...before, losses: before.losses + 1 };
  draft.setStep(id, state);
  if (state.losses <= action.maxLosses) {
    if (state.losses > 1) return sleep(draft, id, state, declineBackoffMs(state.losses - 1, draft.context.random));
    draft.calls.add(id);
    return;
  }
  const message = `${state.losses} calls of step ${id} were lost, ${action.maxLosses} are allowed`;
  if (exitCall(draft, id)) return failCall(draft, id, Reason.POISON, message);
  park(draft, message, endpoint);
}

function retryCall(draft: Draft, id: string, action: CallAction, before: StepState, reason: Reason): void {
  const state = { ...before, attempts: before.attempts + 1 };
  draft.setStep(id, state);
  if (state.attempts >= action.tries) {
    return failCall(
      draft,
      id,
      reason,
      `${state.attempts} of ${action.tries} tries failed, the last one: ${state.message}`,
    );
  }
  const { firstBackoffMs, maxBackoffMs } = action;
  sleep(draft, id, state, retryBackoffMs(state.attempts, firstBackoffMs, maxBackoffMs, draft.context.random));
}

function sleep(draft: Draft, id: string, state: StepState, durationMs: number): void {
  draft.setStep(id, { ...state, status: StepStatus.SLEEPING, dueMs: draft.context.nowMs + durationMs });
}

function failCall(draft: Draft, id: string, reason: Reason, message: string): void {
  draft.fail(id, reason, message);
  if (exitCall(draft, id)) exitCallUndone(draft, id, message);
}

function unsaid(action: CallAction, ending: Ending): string {
  return `module ${action.module}: ${Ending[ending]}, without a message`;
}

/** The declared fields of an answer; a field that isn't what the flow declares it to be makes the answer malformed. */
function keep(draft: Draft, id: string, action: CallAction, fields: ReadonlyMap<string, FieldValue>) {
  const kept: Array<readonly [string, FieldValue]> = [];
  let malformed: string | undefined;
  for (const name of action.receive) {
    const value = fields.get(name);
    if (!value) continue;
    const declared = draft.plan.fields.get(name);
    if (declared && !value.reference) {
      const decoded = decodeTyped(declared.type, value.bytes);
      if (decoded.kind === 'error') malformed ??= `answer's field ${name} ${decoded.message}`;
    }
    kept.push([name, value]);
  }
  malformed ??= branchRefusal(draft, id, action.receive, new Map(kept));
  return { fields: kept, malformed };
}

function recordTries(
  draft: Draft,
  event: AnsweredEvent,
  action: CallAction,
  { ending, message }: Heard,
  droppedFields: number,
): void {
  // A call that no endpoint has seen is recorded too: where it ended is the evidence.
  const { nowMs } = draft.context;
  const unsent: Try = { endpoint: '', ending, message, startedMs: nowMs, durationUs: 0 };
  const tries = event.tries.length > 0 ? event.tries : [unsent];
  tries.forEach((attempt, index) => {
    const last = index === tries.length - 1;
    draft.record({
      step: event.step,
      round: event.round,
      attempt: event.attempt,
      module: action.module,
      endpoint: attempt.endpoint,
      ending: last ? ending : attempt.ending,
      ...(attempt.code === undefined ? {} : { code: attempt.code }),
      message: last ? message : attempt.message,
      startedMs: attempt.startedMs,
      durationUs: attempt.durationUs,
      droppedFields: last ? droppedFields : 0,
    });
  });
}
