// A call goes out only after the write that says so was accepted: its step RUNNING, in this round and attempt, under this epoch.

import { printableRun } from '../../../flow/run-id.ts';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const noEffectBeforeItsChange: MakeChecker = (_evidence, report) => {
  /** Calls that the accepted writes allow, as `run step round attempt epoch`. */
  const allowed = new Set<string>();
  return {
    see(record, _before, after) {
      if (record.kind === 'write' && record.result === 'done' && after) {
        for (const [id, { status, round, attempts }] of record.changes.steps) {
          if (status !== StepStatus.RUNNING) continue;
          allowed.add(`${record.run} ${id} ${round} ${attempts + 1} ${after.fence.epoch}`);
        }
      }
      if (record.kind !== 'call') return;
      const { run, step, round, attempt, epoch, process } = record;
      if (allowed.has(`${run} ${step} ${round} ${attempt} ${epoch}`)) return;
      const which = `round ${round}, attempt ${attempt}, epoch ${epoch}`;
      report(`${process} calls ${printableRun(run)} ${step} (${which}), which is nowhere stored as RUNNING`);
    },
  };
};
