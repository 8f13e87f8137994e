// A signal that a flow waits for is never lost: it ends the step that waits for it, or is kept for the one that will, which finds it. And
// a wait ends by its signal or when its time has come, not before.

import type { Plan, PlanStep, SignalWait, WaitAction } from '../../../flow/plan.ts';
import { type FieldValue, fieldKey, type StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { OnTimeout } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { type InboxEvent, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { consumedBy, type MakeChecker, type RunView } from './checker.ts';

type Values = ReadonlyMap<string, string>;

export const signalsAreKept: MakeChecker = (subject, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !before || !after || after.isMoved) return;
    const tell = (wrong: string) => report(`${printableRun(record.run)} ${wrong}`);
    const plan = subject.planOfRun(after);
    if (!plan) return;
    const consumed = consumedBy(record.changes, subject);
    // Of what came while it was at rest, or what it ended with, nothing is said.
    const isSameStay = after.control.status.outcomeNumber === before.control.status.outcomeNumber;
    if (isSameStay && isOpen(before) && isOpen(after))
      for (const wrong of lostSignals(plan, consumed, before, after)) tell(wrong);
    for (const step of plan.steps) {
      const state = record.changes.steps.get(step.id);
      if (step.action.kind !== 'wait' || !state) continue;
      const wrong = wrongEnd(step, step.action, state, { consumed, before, after });
      if (wrong) tell(`${step.id} ${wrong}`);
    }
  },
});

function isOpen({ control }: RunView): boolean {
  return control.status.state === State.OPEN || control.status.state === State.PARKED;
}

function* lostSignals(
  plan: Plan,
  consumed: ReadonlyArray<InboxEvent['kind']>,
  before: RunView,
  after: RunView,
): Iterable<string> {
  for (const name of plan.signals.keys()) {
    const waiting = plan.steps.filter(({ action }) => isFor(action, name)).map(({ id }) => id);
    const isTaken = waiting.some(
      (id) => after.steps.get(id)?.status === StepStatus.DONE && before.steps.get(id)?.status !== StepStatus.DONE,
    );
    const kept = keptPath(name);
    const came = consumed.some((kind) => kind.case === 'signal' && kind.value.name === name);
    if (came && !isTaken && !after.steps.has(kept)) yield `consumed a signal ${name}, which is nowhere`;
    if (before.steps.has(kept) && !after.steps.has(kept) && !isTaken) yield `kept a signal ${name}, and has lost it`;
    const waits = waiting.find((id) => after.steps.get(id)?.status === StepStatus.WAITING);
    if (after.steps.has(kept) && waits !== undefined) yield `${waits} waits for a signal ${name}, which is there`;
  }
}

function isFor(action: PlanStep['action'], name: string): boolean {
  return action.kind === 'wait' && action.what.kind === 'signal' && action.what.name === name;
}

interface Cause {
  readonly consumed: ReadonlyArray<InboxEvent['kind']>;
  readonly before: RunView;
  readonly after: RunView;
}

function wrongEnd({ id }: PlanStep, { what }: WaitAction, state: StepState, cause: Cause): string | undefined {
  const was = cause.before.steps.get(id);
  if (was?.status === state.status && was.round === state.round) return undefined;
  const isInTime = was?.round === state.round && was.dueMs > 0 && state.endedMs >= was.dueMs;
  const hasWaited =
    was?.round === state.round && (was.status === StepStatus.SLEEPING || was.status === StepStatus.WAITING);
  if (what.kind !== 'signal') {
    const isEarly = state.status === StepStatus.DONE && hasWaited && !isInTime;
    return isEarly ? `ends at ${state.endedMs}, its time is ${was.dueMs}` : undefined;
  }
  if (state.status !== StepStatus.DONE || !hasWaited) return undefined;
  if (isInTime && what.onTimeout === OnTimeout.PASS) return undefined;
  const left = (name: string) => cause.after.fields.get(fieldKey(id, name));
  const isReal = signalsFor(what, cause).some((fields) =>
    [...what.receive].every((name) => fields.get(name) === textOf(left(name))),
  );
  return isReal ? undefined : `is DONE, and no such signal ${what.name} came`;
}

/** The fields of the signals that a step may have ended with. */
function signalsFor({ name }: SignalWait, { consumed, before }: Cause): Values[] {
  const came = consumed.flatMap((kind) => {
    if (kind.case !== 'signal' || kind.value.name !== name) return [];
    return [new Map(Object.entries(kind.value.fields).map(([field, { value }]) => [field, latin1(value)]))];
  });
  if (!before.steps.has(keptPath(name))) return came;
  const beginning = fieldKey(keptPath(name), '');
  const kept = [...before.fields].filter(([key]) => key.startsWith(beginning));
  return [...came, new Map(kept.map(([key, { bytes }]) => [key.slice(beginning.length), latin1(bytes)]))];
}

function keptPath(name: string): string {
  return `signal/${name}`;
}

function textOf(value: FieldValue | undefined): string | undefined {
  return value && latin1(value.bytes);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}
