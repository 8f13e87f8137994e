// SIMPLE: a call of a module, and the calls made on exit, which differ only in what their failure means.

import { Ending, Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { declineBackoffMs, retryBackoffMs } from '../backoff.ts';
import { type Draft, unreached } from '../draft.ts';
import type { CallEffect } from '../effect.ts';
import type { AnsweredEvent, Try } from '../event.ts';
import { endingDeadlineMs, exitCall, exitCallUndone } from '../exit-call.ts';
import { decodeTyped } from '../field-type.ts';
import { park } from '../parking.ts';
import type { CallAction } from '../plan.ts';
import { isDeclined, verdictOf } from '../return-code.ts';
import { type FieldValue, fieldKey, type StepState } from '../run.ts';
import { callKey } from '../run-id.ts';

/** The call that a step id stands for, an exit call included. */
export function callAction(draft: Draft, id: string): CallAction {
  const step = draft.plan.byId.get(id);
  if (step?.action.kind === 'call') return step.action;
  const exit = exitCall(draft, id);
  if (exit) return exit.action;
  throw new Error(`invariant: ${draft.plan.name} version ${draft.plan.version} has no call ${id}`);
}

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
  const fields: Array<readonly [string, FieldValue]> = [];
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
  const action = callAction(draft, id);
  const kept = answer.ending === Ending.SUCCEEDED ? keep(draft, action, answer.fields) : undefined;
  const ending = kept?.malformed === undefined ? answer.ending : Ending.VIOLATION;
  const message =
    kept?.malformed ?? (answer.message === '' && ending !== Ending.SUCCEEDED ? unsaid(action, ending) : answer.message);
  recordTries(draft, event, action, ending, message, answer.fields.size - (kept?.fields.length ?? 0));
  const verdict = verdictOf(ending);
  const declined = event.tries.filter((attempt) => isDeclined(attempt.ending)).length;
  const state: StepState = {
    ...before,
    // Nobody reachable counts as one, so that the pauses grow then too.
    declines: before.declines + Math.max(declined, verdict.kind === 'decline' ? 1 : 0),
    message,
    ...(answer.code === undefined ? {} : { code: answer.code }),
  };
  draft.setStep(id, state);
  switch (verdict.kind) {
    case 'done':
      for (const [name, value] of kept?.fields ?? []) draft.setField(fieldKey(id, name), value);
      return draft.settle(id, StepStatus.DONE);
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
      return loseCall(draft, id, state, event.tries.at(-1)?.endpoint ?? '');
  }
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

/** Steps whose time has come are called again. */
export function wakeSleepers(draft: Draft): void {
  for (const [id, step] of [...draft.reached()]) {
    if (step.status !== StepStatus.SLEEPING || step.dueMs > draft.context.nowMs) continue;
    startCall(draft, id, callAction(draft, id));
  }
}

function failCall(draft: Draft, id: string, reason: Reason, message: string): void {
  draft.fail(id, reason, message);
  if (exitCall(draft, id)) exitCallUndone(draft, id, message);
}

function unsaid(action: CallAction, ending: Ending): string {
  return `module ${action.module}: ${Ending[ending]}, without a message`;
}

/** The declared fields of an answer; a field that isn't what the flow declares it to be makes the answer malformed. */
function keep(draft: Draft, action: CallAction, fields: ReadonlyMap<string, FieldValue>) {
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
  return { fields: kept, malformed };
}

function recordTries(
  draft: Draft,
  event: AnsweredEvent,
  action: CallAction,
  ending: Ending,
  message: string,
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
