// A status becomes terminal once everybody who has to know was told, and all exit calls of its outcome are done, or recorded as undone with an alarm; none is begun before
// the outcome is stored, and none for another outcome.

import { isExitCall } from '../../../flow/exit-call.ts';
import type { PlanExitCall } from '../../../flow/plan.ts';
import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { ExitState } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { AlarmKind, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type MakeChecker, writtenSteps } from './checker.ts';

export const obligationsFirst: MakeChecker = ({ planOfRun }, report) => {
  /** Exit calls of which an alarm says that they are undone, as `run outcome-number id`. */
  const undone = new Set<string>();
  /** Runs that were stopped before they began have no obligations. */
  const stillborn = new Set<RunId>();
  return {
    see(record, _before, after) {
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { state, outcome, outcomeNumber } = after.control.status;
      const ended = state === State.ENDING ? outcome : state;
      const name = (id: string) => `${record.run} ${outcomeNumber} ${id}`;
      for (const { kind, step } of record.changes.alarms) {
        if (kind === AlarmKind.EXIT_CALL_UNDONE) undone.add(name(step));
      }
      const owed = (planOfRun(after)?.exitCalls ?? []).filter((exit) => isOwed(exit, ended));
      for (const [id, { status }] of writtenSteps(record.changes)) {
        if (!isExitCall(id) || status === StepStatus.REARMED || owed.some((exit) => exit.id === id)) continue;
        report(
          `${printableRun(record.run)} is ${State[ended]} and ${id}, which isn't for that, is ${StepStatus[status]}`,
        );
      }
      if (record.operation === 'create' && record.holder === undefined && isTerminal(state)) stillborn.add(record.run);
      if (!isTerminal(state) || stillborn.has(record.run)) return;
      for (const path of after.steps.keys()) {
        if (path.startsWith('tell/')) report(`${printableRun(record.run)} is ${State[state]} and has ${path} to do`);
      }
      for (const { id } of owed) {
        const status = after.steps.get(id)?.status ?? StepStatus.UNSPECIFIED;
        const isGivenUp = status === StepStatus.FAILED || status === StepStatus.CANCELLED;
        if (status === StepStatus.DONE || (isGivenUp && undone.has(name(id)))) continue;
        const alarm = isGivenUp ? ' without an alarm' : '';
        report(`${printableRun(record.run)} is ${State[state]} and its ${id} is ${StepStatus[status]}${alarm}`);
      }
    },
  };
};

function isOwed({ when }: PlanExitCall, outcome: State): boolean {
  if (outcome === State.SUCCEEDED) return when.has(ExitState.SUCCEEDED);
  if (outcome === State.FAILED) return when.has(ExitState.FAILED);
  return outcome === State.CANCELLED && when.has(ExitState.CANCELLED);
}
