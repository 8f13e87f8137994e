// A run ends when its steps say so, as they say, and not before: all settled, one failed that no join does without, its time over, or it
// was cancelled. One that goes on has none of these, and one that is ending has no step left at work.

import { branchOf } from '../../../flow/branch-path.ts';
import type { Plan } from '../../../flow/plan.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import {
  type Case,
  consumedBy,
  isSettled,
  isUnderWay,
  type MakeChecker,
  type RunView,
  writtenSteps,
} from './checker.ts';
import { isDispensable, isDoneWithout } from './flow-rules.ts';

export const outcomeFollows: MakeChecker = (subject, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const tell = (wrong: string) => report(`${printableRun(record.run)} ${wrong}`);
    const { state, outcomeNumber } = after.control.status;
    const plan = subject.planOfWrite(before, after);
    // Whoever only stored it, or moved it to another version, left it to the next.
    const isDecided = (record.operation !== 'create' || record.holder !== undefined) && !after.isMoved;
    if (!plan || (state === State.OPEN && !isDecided)) return;
    if (state === State.OPEN) return checkOpen(plan, before, after, record, tell);
    const isNew = outcomeNumber !== before?.control.status.outcomeNumber;
    // A run that is stopped before it begins is stopped by whoever would have started it.
    const isStillborn = record.operation === 'create' && record.holder === undefined;
    if (isNew && state !== State.PARKED && !isStillborn) checkEnded(plan, after, record, subject, tell);
  },
});

function checkOpen(
  plan: Plan,
  before: RunView | undefined,
  after: RunView,
  { changes }: WriteHappening,
  tell: (wrong: string) => void,
): void {
  for (const step of plan.steps) {
    const hasFailed = after.steps.get(step.id)?.status === StepStatus.FAILED;
    if (hasFailed && !isDispensable(plan, after, step)) tell(`goes on with ${step.id} FAILED`);
  }
  if (plan.steps.every(({ id }) => isSettled(after.steps.get(id)?.status))) tell('goes on with nothing left to do');
  const { deadlineMs } = after.control;
  for (const [id, { startedMs, endedMs }] of writtenSteps(changes)) {
    if (!plan.byId.has(branchOf(id)?.step ?? id)) continue;
    const was = before?.steps.get(id);
    // By the clock of the holder that decided, whatever the others say; so only of what this very write says.
    const isLateBegin = startedMs !== was?.startedMs && startedMs >= deadlineMs;
    const isLateEnd = endedMs !== was?.endedMs && endedMs >= deadlineMs;
    if (isLateBegin || isLateEnd) tell(`goes on with ${id} after its deadline`);
  }
}

function checkEnded(
  plan: Plan,
  after: RunView,
  { changes }: WriteHappening,
  subject: Case,
  tell: (wrong: string) => void,
): void {
  const { control, steps } = after;
  const { state, outcome, reason, sinceMs } = control.status;
  const ended = state === State.ENDING ? outcome : state;
  for (const [path, { status }] of steps) {
    const isOfTheFlow = plan.byId.has(branchOf(path)?.step ?? path);
    if (isOfTheFlow && isUnderWay(status)) tell(`ended with ${path} ${StepStatus[status]}`);
  }
  switch (ended) {
    case State.SUCCEEDED:
      for (const wrong of undone(plan, after)) tell(`SUCCEEDED with ${wrong}`);
      return;
    case State.CANCELLED:
      if (!consumedBy(changes, subject).some((kind) => kind.case === 'cancel')) tell('is CANCELLED, and nobody asked');
      return;
    case State.FAILED:
      if (reason === Reason.DEADLINE) {
        if (sinceMs < control.deadlineMs) tell('FAILED at its deadline before it');
      } else if (!plan.steps.some((step) => hasFailedFor(plan, after, step.id, reason))) {
        tell(`FAILED for ${Reason[reason]}, which no step says`);
      }
      return;
    default:
      tell(`ends as ${State[ended]}`);
  }
}

/** Steps without which a run can't have succeeded. */
function* undone(plan: Plan, run: RunView): Iterable<string> {
  for (const step of plan.steps) {
    const status = run.steps.get(step.id)?.status ?? StepStatus.UNSPECIFIED;
    if (status === StepStatus.DONE || status === StepStatus.SKIPPED) continue;
    if (status === StepStatus.FAILED && isDispensable(plan, run, step)) continue;
    if (status === StepStatus.CANCELLED && isDoneWithout(plan, run, step.id)) continue;
    yield `${step.id} ${StepStatus[status]}`;
  }
}

function hasFailedFor(plan: Plan, run: RunView, id: string, reason: Reason): boolean {
  const [step, state] = [plan.byId.get(id), run.steps.get(id)];
  const hasFailed = state?.status === StepStatus.FAILED && state.reason === reason;
  return step !== undefined && hasFailed && !isDispensable(plan, run, step);
}
