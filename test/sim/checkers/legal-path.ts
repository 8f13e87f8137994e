// A run goes the way its pinned flow says: a step begins, is skipped or waits as the settled ones before it have it, nothing that
// may begin is left lying, a switch chooses what its cases say, and what is settled stays so until the next round.

import type { PlanStep } from '../../../flow/plan.ts';
import type { StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker, RunView } from './checker.ts';
import { choiceOf, type Due, dueOf } from './flow-rules.ts';

const settled: ReadonlySet<StepStatus> = new Set([
  StepStatus.DONE,
  StepStatus.SKIPPED,
  StepStatus.FAILED,
  StepStatus.CANCELLED,
]);

export const legalPath: MakeChecker = ({ planOfRun }, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const name = printableRun(record.run);
    const plan = planOfRun(after);
    if (!plan) return report(`${name} is pinned to a version of ${after.control.flow} that doesn't exist`);
    for (const id of record.changes.steps.keys()) {
      if (!plan.byId.has(id) && !plan.exitCalls.some((exit) => exit.id === id))
        report(`${name}: ${id} is no step of it`);
      const [was, is] = [before?.steps.get(id), after.steps.get(id)];
      if (was && is && was.round === is.round && settled.has(was.status) && was.status !== is.status)
        report(`${name} ${id} was ${StepStatus[was.status]} in round ${was.round} and is ${StepStatus[is.status]}`);
    }
    // Whoever only stored it decided nothing yet.
    const isDecided = record.operation !== 'create' || record.holder !== undefined;
    for (const step of plan.steps) {
      const isChanged = record.changes.steps.has(step.id);
      const isOpen = isDecided && after.control.status.state === State.OPEN;
      if (!isChanged && (!isOpen || isBegun(after.steps.get(step.id)))) continue;
      const wrong = wrongIn(after, step, dueOf(plan, after, step), isOpen);
      if (wrong) report(`${name} ${step.id} ${wrong}`);
    }
  },
});

function isBegun(state: StepState | undefined): boolean {
  return state !== undefined && state.status !== StepStatus.REARMED;
}

/** What is wrong with the state of a step of which the flow says that it is `due`. */
function wrongIn(run: RunView, step: PlanStep, due: Due, isOpen: boolean): string | undefined {
  const state = run.steps.get(step.id);
  if (!state || !isBegun(state)) return isOpen && due !== 'wait' ? `waits where it has to ${due}` : undefined;
  if (state.status === StepStatus.SKIPPED) return due === 'skip' ? undefined : `is skipped where it has to ${due}`;
  if (due === 'fail')
    return state.status === StepStatus.FAILED ? undefined : 'has a condition without a value and goes on';
  if (due !== 'begin') return `is ${StepStatus[state.status]} where it has to ${due}`;
  if (step.action.kind !== 'switch') return undefined;
  const choice = choiceOf(step.action, run);
  if (state.status === StepStatus.DONE && choice?.join() !== state.chosen.join())
    return `chose ${state.chosen.join()}, its cases say ${choice?.join() ?? 'that it fails'}`;
  if (state.reason === Reason.NO_MATCH && choice) return `failed, its cases say ${choice.join()}`;
  return undefined;
}
