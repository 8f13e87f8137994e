// A loss is counted for each call whose end nobody knows, and for nothing else: one for a step that a claim finds RUNNING, one for
// each connection that the holder heard of as lost, stored before the step is called again. What is no call, a run to start or something
// to tell, is repeated without being a loss.

import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { Ending, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { actionAt, callOf, type MakeChecker, maxBarrenClaims, type RunView, writtenSteps } from './checker.ts';
import { Heard } from './heard.ts';

export const lossesHaveCauses: MakeChecker = ({ planOfRun, planOfWrite }, report) => {
  const lost = new Heard();
  const checkClaim = ({ run }: WriteHappening, before: RunView | undefined, after: RunView) => {
    const plan = planOfWrite(before, after);
    // Once one step has lost too many calls the run is put aside, and the others aren't looked at.
    const isPoison = [...after.steps].some(([id, { losses }]) => losses > (callOf(plan, id)?.maxLosses ?? Infinity));
    for (const [id, step] of after.steps) {
      const was = before?.steps.get(id);
      const isSameRound = was?.round === step.round;
      const stored = isSameRound ? was.losses : 0;
      const isCall = callOf(plan, id) !== undefined;
      const isLost = isSameRound && isCall && was.status === StepStatus.RUNNING && countsLosses(before, after);
      const due = stored + (isLost ? 1 : 0);
      lost.taken(run, id, step, after.fence.epoch, due);
      if (step.losses === due || (isPoison && step.losses === stored)) continue;
      const found = was ? `${StepStatus[was.status]} with ${stored} losses` : 'not begun';
      report(`${printableRun(run)} ${id}: a claim found it ${found} and made it ${step.losses}`);
    }
  };
  return {
    see(record, before, after) {
      if (record.kind === 'answer' && record.ending === Ending.LOST) lost.note(record.call);
      if (record.kind === 'call' && before?.fence.epoch === record.epoch) {
        const { run, step, round, epoch } = record;
        // A later answer may have come before its call was lost.
        if (actionAt(planOfRun(before), step)?.kind === 'callback') return;
        const losses = before.steps.get(step)?.losses ?? 0;
        const due = lost.most(run, step, round, epoch);
        if (losses < due) report(`${printableRun(run)} ${step} is called again, ${losses} of ${due} losses are stored`);
      }
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      if (record.operation !== 'commit') return checkClaim(record, before, after);
      for (const [id, { losses, round }] of writtenSteps(record.changes)) {
        const due = lost.most(record.run, id, round, after.fence.epoch);
        if (losses > due) report(`${printableRun(record.run)} ${id}: ${losses} losses are stored, ${due} have a cause`);
      }
    },
  };
};

/** What is at rest has no calls out, and what was claimed in vain too often is put aside without looking. */
function countsLosses(before: RunView | undefined, { barrenClaims }: RunView): boolean {
  const was = before?.control.status.state ?? State.UNSPECIFIED;
  return was !== State.PARKED && !isTerminal(was) && barrenClaims <= maxBarrenClaims;
}
