// A run ends when its steps say so, as they say, and not before: all settled, one failed, its time over, or it was cancelled. One
// that goes on has none of these, and one that is ending has no step left at work.

import { isExitCall } from '../../../flow/exit-call.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { type Case, type MakeChecker, type RunView, writtenSteps } from './checker.ts';

export const outcomeFollows: MakeChecker = ({ planOfRun, events }, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const tell = (wrong: string) => report(`${printableRun(record.run)} ${wrong}`);
    const { state, outcomeNumber } = after.control.status;
    const isDecided = record.operation !== 'create' || record.holder !== undefined;
    if (state === State.OPEN && isDecided) return checkOpen(before, after, record, stepsOf(after, planOfRun), tell);
    if (state === State.OPEN || state === State.PARKED) return;
    const isNew = outcomeNumber !== before?.control.status.outcomeNumber;
    if (isNew) checkEnded(after, record, stepsOf(after, planOfRun), events, tell);
  },
});

/** The steps of the flow, exit calls left out, with their states. */
function stepsOf(run: RunView, planOfRun: Case['planOfRun']): ReadonlyMap<string, StepStatus> {
  const steps = planOfRun(run)?.steps ?? [];
  return new Map(steps.map(({ id }) => [id, run.steps.get(id)?.status ?? StepStatus.UNSPECIFIED]));
}

function checkOpen(
  before: RunView | undefined,
  { control }: RunView,
  { changes }: WriteHappening,
  steps: ReadonlyMap<string, StepStatus>,
  tell: (wrong: string) => void,
): void {
  for (const [id, status] of steps) if (status === StepStatus.FAILED) tell(`goes on with ${id} FAILED`);
  if ([...steps.values()].every(isDone)) tell('goes on with nothing left to do');
  for (const [id, { startedMs, endedMs }] of writtenSteps(changes)) {
    const was = before?.steps.get(id);
    // By the clock of the holder that decided, whatever the others say; so only of what this very write says.
    const isLateBegin = startedMs !== was?.startedMs && startedMs >= control.deadlineMs;
    const isLateEnd = endedMs !== was?.endedMs && endedMs >= control.deadlineMs;
    if (!isExitCall(id) && (isLateBegin || isLateEnd)) tell(`goes on with ${id} after its deadline`);
  }
}

function checkEnded(
  { control, steps: states }: RunView,
  { changes }: WriteHappening,
  steps: ReadonlyMap<string, StepStatus>,
  events: Case['events'],
  tell: (wrong: string) => void,
): void {
  const { state, outcome, reason, sinceMs } = control.status;
  const ended = state === State.ENDING ? outcome : state;
  for (const [id, status] of steps) {
    if (status === StepStatus.RUNNING || status === StepStatus.SLEEPING) tell(`ended with ${id} ${StepStatus[status]}`);
  }
  switch (ended) {
    case State.SUCCEEDED:
      for (const [id, status] of steps) if (!isDone(status)) tell(`SUCCEEDED with ${id} ${StepStatus[status]}`);
      return;
    case State.CANCELLED:
      if (!changes.consumed.some((id) => events.get(id)?.kind.case === 'cancel'))
        tell('is CANCELLED, and nobody asked');
      return;
    case State.FAILED:
      if (reason === Reason.DEADLINE) {
        if (sinceMs < control.deadlineMs) tell('FAILED at its deadline before it');
      } else if (![...steps.keys()].some((id) => failedFor(states, id, reason))) {
        tell(`FAILED for ${Reason[reason]}, which no step says`);
      }
      return;
    default:
      tell(`ends as ${State[ended]}`);
  }
}

function failedFor(states: RunView['steps'], id: string, reason: Reason): boolean {
  const state = states.get(id);
  return state?.status === StepStatus.FAILED && state.reason === reason;
}

function isDone(status: StepStatus): boolean {
  return status === StepStatus.DONE || status === StepStatus.SKIPPED;
}
