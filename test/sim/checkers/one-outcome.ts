// A run has one outcome per outcome number. It is fixed when the run begins to end; only a retry or a rewind that
// names it reopens it, or news of a child that it failed with.

import type { Status } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { type InboxEvent, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker, RunView } from './checker.ts';

export const oneOutcome: MakeChecker = ({ events }, report) => {
  const outcomes = new Map<string, State>();
  return {
    see(record, before, after) {
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const name = printableRun(record.run);
      const { status } = after.control;
      const consumed = record.changes.consumed.flatMap((id) => events.get(id) ?? []);
      const outcome = outcomeOf(status);
      if (outcome !== undefined) {
        const key = `${record.run}/${status.outcomeNumber}`;
        const known = outcomes.get(key);
        outcomes.set(key, outcome);
        if (known !== undefined && known !== outcome) {
          report(`${name} outcome ${status.outcomeNumber} was ${State[known]} and is ${State[outcome]}`);
        }
      }
      if (!before) return;
      const was = before.control.status;
      if (status.outcomeNumber < was.outcomeNumber)
        report(`${name}: its outcome number fell to ${status.outcomeNumber}`);
      const stays = outcome === outcomeOf(was) && status.outcomeNumber === was.outcomeNumber;
      if (outcomeOf(was) === undefined || stays) return;
      if (outcomeOf(was) === State.SUCCEEDED) report(`${name} had SUCCEEDED and was reopened`);
      // One write may carry the end, the retry and what follows.
      if (consumed.some((event) => names(event, was.outcomeNumber) || isOfChild(event, before))) return;
      report(`${name} was reopened from outcome ${was.outcomeNumber} without a retry that names it`);
    },
  };
};

/** The outcome that a status has, or is about to have. */
function outcomeOf({ state, outcome }: Status): State | undefined {
  if (state === State.ENDING) return outcome;
  return isTerminal(state) ? state : undefined;
}

function names({ kind }: InboxEvent, outcomeNumber: number): boolean {
  return (kind.case === 'retry' || kind.case === 'rewind') && kind.value.outcomeNumber === outcomeNumber;
}

/** Whether it tells of a child with which the run has failed. */
function isOfChild({ kind }: InboxEvent, { control, steps }: RunView): boolean {
  if (kind.case !== 'childReopened' && kind.case !== 'childEnded') return false;
  const step = steps.get(kind.value.step);
  const isIts = step?.status === StepStatus.FAILED && step.child === kind.value.child;
  return isIts && outcomeOf(control.status) === State.FAILED;
}
