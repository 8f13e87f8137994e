// An attempt is spent by a failure that the holder heard of, and by nothing else: neither by an answer that declined nor by a loss.
// And each failure that it heard of spends one, before the step is called again.

import { printableRun } from '../../../flow/run-id.ts';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { type MakeChecker, writtenSteps } from './checker.ts';
import { Heard } from './heard.ts';

const failures: ReadonlySet<Ending> = new Set([Ending.FAILED, Ending.TIMED_OUT, Ending.VIOLATION]);

export const attemptsAreFailures: MakeChecker = (_evidence, report) => {
  const failed = new Heard();
  return {
    see(record, before, after) {
      if (record.kind === 'answer' && failures.has(record.ending)) failed.note(record.call);
      if (record.kind === 'call' && before?.fence.epoch === record.epoch) {
        const { run, step, round, attempt, epoch } = record;
        const spent = failed.most(run, step, round, epoch);
        if (attempt !== spent + 1)
          report(`${printableRun(run)} ${step} round ${round}: attempt ${attempt} follows ${spent} failures`);
      }
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { run, operation } = record;
      const { epoch } = after.fence;
      for (const [id, step] of operation === 'commit' ? writtenSteps(record.changes) : after.steps) {
        const was = before?.steps.get(id);
        const stored = was?.round === step.round ? was.attempts : 0;
        if (operation !== 'commit') failed.taken(run, id, step, epoch, stored);
        const most = failed.most(run, id, step.round, epoch);
        if (step.attempts <= most) continue;
        report(
          `${printableRun(run)} ${id} round ${step.round}: ${step.attempts} attempts were spent on ${most} failures`,
        );
      }
    },
  };
};
