// A run goes the way its pinned flow says: a step begins, is skipped or waits as the settled ones before it have it, nothing that
// may begin is left lying, a switch chooses what its cases say, a join goes on once and stops those that lost, and what is settled
// stays so until the next round.

import type { Plan, PlanStep } from '../../../flow/plan.ts';
import type { StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { HistoryRecord, WriteHappening } from '../world/history.ts';
import {
  actionAt,
  type Case,
  consumedBy,
  isSettled,
  isUnderWay,
  type MakeChecker,
  type RunView,
  writtenSteps,
} from './checker.ts';
import { choiceOf, dueOf, isDoneWithout, isLoser, wrongChoice } from './flow-rules.ts';

export const legalPath: MakeChecker = (subject, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const tell = (wrong: string) => report(`${printableRun(record.run)} ${wrong}`);
    const plan = subject.planOfRun(after);
    if (!plan) return tell(`is pinned to a version of ${after.control.flow} that doesn't exist`);
    for (const wrong of wrongChanges(subject, record, before, after)) tell(wrong);
    // By the plan of a version that the run was moved to nothing is decided yet.
    if (!after.isMoved) return checkSteps(plan, record, before, after, tell);
    for (const [id, { status }] of writtenSteps(record.changes)) {
      if (isUnderWay(status) && !isBesideTheFlow(id)) tell(`${id} begins, and its run was moved to another version`);
    }
  },
});

/** What is wrong with the paths that a write changed, whatever the flow says of them. */
function* wrongChanges(
  subject: Case,
  { changes }: HistoryRecord & WriteHappening,
  before: RunView | undefined,
  after: RunView,
): Iterable<string> {
  const plan = subject.planOfWrite(before, after);
  for (const id of changes.steps.keys()) {
    const [was, is] = [before?.steps.get(id), after.steps.get(id)];
    const isBegun = is !== undefined && is.status !== StepStatus.REARMED;
    if (isBegun && !isBesideTheFlow(id) && !actionAt(plan, id)) yield `${id} is no step of it`;
    const isChanged = was && is && was.round === is.round && isSettled(was.status) && was.status !== is.status;
    if (!isChanged || isBesideTheFlow(id)) continue;
    // A child that went on by itself takes its parent's step with it.
    const isReopened = consumedBy(changes, subject).some(
      (kind) => (kind.case === 'childReopened' || kind.case === 'childEnded') && kind.value.step === id,
    );
    if (was.status === StepStatus.FAILED && actionAt(plan, id)?.kind === 'sub_flow' && isReopened) continue;
    yield `${id} was ${StepStatus[was.status]} in round ${was.round} and is ${StepStatus[is.status]}`;
  }
}

/** What is to be told to others, and signals that are kept. */
function isBesideTheFlow(path: string): boolean {
  return path.startsWith('tell/') || path.startsWith('signal/');
}

function checkSteps(
  plan: Plan,
  { changes, operation, holder }: WriteHappening,
  before: RunView | undefined,
  after: RunView,
  tell: (wrong: string) => void,
): void {
  // Whoever only stored it decided nothing yet.
  const isDecided = operation !== 'create' || holder !== undefined;
  const isOpen = isDecided && after.control.status.state === State.OPEN;
  for (const step of plan.steps) {
    const isChanged = changes.steps.has(step.id);
    if (!isChanged && (!isOpen || isBegun(after.steps.get(step.id)))) continue;
    const wrong = wrongIn(plan, step, { before, after, isOpen });
    if (wrong) tell(`${step.id} ${wrong}`);
  }
}

function isBegun(state: StepState | undefined): boolean {
  return state !== undefined && state.status !== StepStatus.REARMED;
}

interface Moment {
  readonly before: RunView | undefined;
  readonly after: RunView;
  readonly isOpen: boolean;
}

/** What is wrong with the state of a step, by what the flow says is due. */
function wrongIn(plan: Plan, step: PlanStep, moment: Moment): string | undefined {
  const { after: run, isOpen } = moment;
  const due = dueOf(plan, run, step);
  const state = run.steps.get(step.id);
  if (!state || !isBegun(state)) return isOpen && due !== 'wait' ? `waits where it has to ${due}` : undefined;
  const { status, reason } = state;
  if (status === StepStatus.CANCELLED)
    return isOpen && !mayBeStopped(plan, step, moment) ? 'was stopped, and nothing has ended' : undefined;
  if (status === StepStatus.SKIPPED) {
    const isRight = due === 'skip' ? reason === Reason.UNSPECIFIED : due === 'dead' && reason !== Reason.UNSPECIFIED;
    return isRight ? undefined : `is skipped (${Reason[reason]}) where it has to ${due}`;
  }
  if (due === 'fail') return status === StepStatus.FAILED ? undefined : 'has a condition without a value and goes on';
  const isTooFew = status === StepStatus.FAILED && reason === Reason.JOIN;
  if (due === 'too few' || isTooFew)
    return due === 'too few' && isTooFew ? undefined : `is ${StepStatus[status]} where it has to ${due}`;
  if (due !== 'begin') return `is ${StepStatus[status]} where it has to ${due}`;
  return wrongDecision(step, state, moment);
}

/** A join that has gone on stops those that lost. What the end of the run has stopped stays so where a join is done without it. */
function mayBeStopped(plan: Plan, { id }: PlanStep, { before, after }: Moment): boolean {
  const hasEnded = after.control.status.outcomeNumber !== before?.control.status.outcomeNumber;
  return isLoser(plan, after, id) || (hasEnded && isDoneWithout(plan, after, id));
}

function wrongDecision({ action }: PlanStep, state: StepState, { before, after, isOpen }: Moment): string | undefined {
  const isDone = state.status === StepStatus.DONE;
  if (action.kind === 'join') {
    if (!isDone) return 'is a join that waits';
    const left = [...action.branches].find((branch) => !isSettled(after.steps.get(branch)?.status));
    if (isOpen && action.cancels && left !== undefined) return `has gone on, and ${left} is left`;
    return wrongChoice(action, state, before, after);
  }
  const isForEver = action.kind === 'sub_flow' && state.status === StepStatus.WAITING && state.dueMs === 0;
  if (isForEver) return 'waits for its run, and never looks at it';
  if (action.kind !== 'switch') return undefined;
  const choice = choiceOf(action, after);
  if (isDone && choice?.join() !== state.chosen.join())
    return `chose ${state.chosen.join()}, its cases say ${choice?.join() ?? 'that it fails'}`;
  if (state.reason === Reason.NO_MATCH && choice) return `failed, its cases say ${choice.join()}`;
  return undefined;
}
