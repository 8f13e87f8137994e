// A call goes out only after the write that says so was accepted: its step RUNNING, in this round and attempt. While its caller
// holds the run that is how the run stands at this moment; a caller that was overtaken and doesn't know yet goes by what it stored.

import { printableRun } from '../../../flow/run-id.ts';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { CallHappening } from '../world/history.ts';
import { type MakeChecker, type RunView, writtenSteps } from './checker.ts';

export const noEffectBeforeItsChange: MakeChecker = (_evidence, report) => {
  /** Calls that the accepted writes allow, as `run step round attempt epoch`. */
  const allowed = new Set<string>();
  return {
    see(record, before, after) {
      if (record.kind === 'write' && record.result === 'done' && after) {
        for (const [id, { status, round, attempts }] of writtenSteps(record.changes)) {
          if (status !== StepStatus.RUNNING) continue;
          allowed.add(`${record.run} ${id} ${round} ${attempts + 1} ${after.fence.epoch}`);
        }
      }
      if (record.kind !== 'call') return;
      const { run, step, round, attempt, epoch, process } = record;
      const which = `${printableRun(run)} ${step} (round ${round}, attempt ${attempt}, epoch ${epoch})`;
      if (!allowed.has(`${run} ${step} ${round} ${attempt} ${epoch}`)) {
        report(`${process} calls ${which}, which is nowhere stored as RUNNING`);
      } else if (before?.fence.epoch === epoch && !isRunning(before, record)) {
        report(`${process} calls ${which}, which isn't RUNNING any more`);
      }
    },
  };
};

function isRunning({ steps }: RunView, { step, round, attempt }: CallHappening): boolean {
  const state = steps.get(step);
  return state?.status === StepStatus.RUNNING && state.round === round && state.attempts + 1 === attempt;
}
