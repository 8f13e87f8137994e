// Some answers are final: once a holder has heard REJECTED or FATAL of a step, it doesn't call it again in that round; once that is
// stored, no later holder does. Work that a callback asks for may end by a later answer before that, so of it only what is stored counts. (An earlier holder, which doesn't know yet that it lost the run, may.)

import { printableRun } from '../../../flow/run-id.ts';
import { Ending, Reason, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { actionAt, type MakeChecker, writtenSteps } from './checker.ts';

export const finalAnswers: MakeChecker = ({ planOfRun }, report) => {
  /** Epoch under which the answer was stored, by `run step round`. */
  const stored = new Map<string, number>();
  /** `run step round epoch`. */
  const heard = new Set<string>();
  return {
    see(record, before, after) {
      if (record.kind === 'write' && record.result === 'done' && after) {
        for (const [id, { status, reason, round }] of writtenSteps(record.changes)) {
          if (status !== StepStatus.FAILED || (reason !== Reason.REJECTED && reason !== Reason.FATAL)) continue;
          stored.set(`${record.run} ${id} ${round}`, after.fence.epoch);
        }
      }
      if (record.kind === 'answer' && (record.ending === Ending.REJECTED || record.ending === Ending.FATAL)) {
        const { run, step, round, epoch } = record.call;
        heard.add(`${run} ${step} ${round} ${epoch}`);
      }
      if (record.kind !== 'call') return;
      const { run, step, round, epoch } = record;
      const since = stored.get(`${run} ${step} ${round}`);
      const isCallback = before && actionAt(planOfRun(before), step)?.kind === 'callback';
      const hasHeard = !isCallback && heard.has(`${run} ${step} ${round} ${epoch}`);
      if ((since !== undefined && epoch >= since) || hasHeard) {
        report(`${printableRun(run)} ${step} is called in round ${round} after a final answer`);
      }
    },
  };
};
