// A call that was taken back reached no module, and only such calls, or those that were never performed, are put back as if
// nothing had happened.

import type { StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { CallHappening } from '../world/history.ts';
import { type MakeChecker, writtenSteps } from './checker.ts';

export const withdrawnMeansUnheard: MakeChecker = (_evidence, report) => {
  /** Numbers of calls that a module heard of, and of those that were taken back. */
  const delivered = new Set<number>();
  const withdrawn = new Set<number>();
  /** The last call by `run step round epoch`, while its holder hasn't heard of its end. */
  const out = new Map<string, CallHappening>();
  return {
    see(record, before, after) {
      if (record.kind === 'call') out.set(nameOf(record), record);
      if (record.kind === 'answer') out.delete(nameOf(record.call));
      if (record.kind === 'withdrawal') {
        const { call } = record;
        withdrawn.add(call.number);
        out.delete(nameOf(call));
        if (delivered.has(call.number)) report(`${show(call)} was taken back, and a module had heard of it`);
      }
      if (record.kind === 'receipt') {
        delivered.add(record.call.number);
        if (withdrawn.has(record.call.number)) report(`${show(record.call)} was taken back and delivered`);
      }
      if (record.kind !== 'write' || record.result !== 'done' || record.operation !== 'commit' || !after) return;
      for (const [id, step] of writtenSteps(record.changes)) {
        if (!isPutBack(before?.steps.get(id), step)) continue;
        const call = out.get(`${record.run} ${id} ${step.round} ${after.fence.epoch}`);
        // Of an attempt that a later answer has ended nobody waits for the end.
        if (call?.attempt === step.attempts + 1)
          report(`${show(call)} is out, and its step is put back as if it weren't`);
      }
    },
  };
};

/** From RUNNING to SLEEPING with nothing spent. */
function isPutBack(was: StepState | undefined, is: StepState): boolean {
  return (
    was?.status === StepStatus.RUNNING &&
    is.status === StepStatus.SLEEPING &&
    was.round === is.round &&
    was.attempts === is.attempts &&
    was.losses === is.losses &&
    was.declines === is.declines
  );
}

function nameOf({ run, step, round, epoch }: CallHappening): string {
  return `${run} ${step} ${round} ${epoch}`;
}

function show({ run, step, number }: CallHappening): string {
  return `${printableRun(run)} ${step}: call #${number}`;
}
