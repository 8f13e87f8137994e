// WAIT: for a time, until a time, or for a signal. Whoever waits holds nothing.

import { OnTimeout } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Draft, unreached } from '../draft.ts';
import type { PlanStep, SignalWait, WaitAction } from '../plan.ts';
import { type FieldValue, fieldKey } from '../run.ts';
import { timeOfText } from '../time-text.ts';
import { evaluate } from './condition.ts';

export function startWait(draft: Draft, step: PlanStep, { what }: WaitAction): void {
  switch (what.kind) {
    case 'for':
      return sleepUntil(draft, step.id, draft.context.nowMs + what.durationMs);
    case 'until': {
      const result = evaluate(draft, what.time);
      if (result.kind === 'error') return draft.fail(step.id, Reason.INPUT, result.message);
      const timeMs = timeOf(result.value);
      if (timeMs !== undefined) return sleepUntil(draft, step.id, timeMs);
      const allowed = 'milliseconds since 1970 or a text such as 2026-01-31T08:00:00Z is needed';
      return draft.fail(step.id, Reason.INPUT, `${what.time.path}: ${allowed}`);
    }
    case 'signal':
      return awaitSignal(draft, step.id, what);
  }
}

/** A wait whose time has come. */
export function endWait(draft: Draft, id: string, { what }: WaitAction): void {
  if (what.kind !== 'signal' || what.onTimeout === OnTimeout.PASS) return draft.settle(id, StepStatus.DONE);
  draft.fail(id, Reason.TIMEOUT, `no signal ${what.name} came within ${what.timeoutMs} ms`);
}

/** Gives a signal to the steps that wait for it; where none does yet it is kept for the one that will. The last one counts. */
export function takeSignal(draft: Draft, name: string, fields: ReadonlyMap<string, FieldValue>): void {
  const awaited = draft.plan.signals.get(name);
  // Nobody of this flow ever waits for it.
  if (!awaited) return;
  let taken = false;
  for (const [id, state] of [...draft.reached()]) {
    const action = draft.plan.byId.get(id)?.action;
    if (state.status !== StepStatus.WAITING || action?.kind !== 'wait') continue;
    if (action.what.kind !== 'signal' || action.what.name !== name) continue;
    receive(draft, id, action.what, fields);
    taken = true;
  }
  if (taken) return;
  const early = earlyPath(name);
  draft.setStep(early, { ...unreached(draft.context.nowMs), status: StepStatus.DONE });
  for (const key of draft.fieldsOf(early)) draft.removeField(key);
  for (const [field, value] of fields) draft.setField(fieldKey(early, field), value);
}

function awaitSignal(draft: Draft, id: string, signal: SignalWait): void {
  const early = earlyPath(signal.name);
  if (draft.step(early)) {
    const fields = new Map<string, FieldValue>();
    for (const key of draft.fieldsOf(early)) {
      const value = draft.field(key);
      if (value) fields.set(key.slice(early.length + 1), value);
      draft.removeField(key);
    }
    draft.removeStep(early);
    return receive(draft, id, signal, fields);
  }
  const { nowMs } = draft.context;
  const dueMs = signal.timeoutMs === 0 ? 0 : nowMs + signal.timeoutMs;
  const before = draft.step(id) ?? unreached(nowMs);
  draft.setStep(id, { ...before, status: StepStatus.WAITING, startedMs: nowMs, dueMs });
}

function receive(draft: Draft, id: string, signal: SignalWait, fields: ReadonlyMap<string, FieldValue>): void {
  for (const name of signal.receive) {
    const value = fields.get(name);
    if (value) draft.setField(fieldKey(id, name), value);
  }
  draft.settle(id, StepStatus.DONE);
}

function sleepUntil(draft: Draft, id: string, dueMs: number): void {
  const { nowMs } = draft.context;
  if (dueMs <= nowMs) return draft.settle(id, StepStatus.DONE);
  const before = draft.step(id) ?? unreached(nowMs);
  draft.setStep(id, { ...before, status: StepStatus.SLEEPING, startedMs: nowMs, dueMs });
}

/** Milliseconds since 1970, as far as they can be stored; undefined when it is no time. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  return typeof value === 'string' ? timeOfText(value) : undefined;
}

/** Where a signal that came early is kept. */
function earlyPath(name: string): string {
  return `signal/${name}`;
}
