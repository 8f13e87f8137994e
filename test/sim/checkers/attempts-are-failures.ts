// An attempt is spent by a failure that the holder heard of, and by nothing else: neither by an answer that declined nor by a loss.
// And each failure that it heard of spends one, before the step is called again. Of work that a callback asks for it hears later, by an
// event, or hears nothing within the time.

import type { StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Ending, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { actionAt, callOf, consumedBy, type MakeChecker, type RunView, writtenSteps } from './checker.ts';
import { Heard } from './heard.ts';

const failures: ReadonlySet<Ending> = new Set([Ending.FAILED, Ending.TIMED_OUT, Ending.VIOLATION]);

export const attemptsAreFailures: MakeChecker = (subject, report) => {
  const { planOfRun, planOfWrite } = subject;
  const failed = new Heard();

  /** What a callback may have spent by what a write says: on later answers, and on one that did not come. */
  const spentLater = ({ changes }: WriteHappening, id: string, was: StepState | undefined, step: StepState): number => {
    const answers = consumedBy(changes, subject).filter(
      (kind) => kind.case === 'completed' && kind.value.step === id && kind.value.round === step.round,
    );
    const isMissed = was?.round === step.round && was.status === StepStatus.WAITING && step.attempts > was.attempts;
    return answers.length + (isMissed ? 1 : 0);
  };

  const checkWrite = (record: WriteHappening, before: RunView | undefined, after: RunView) => {
    const { run, operation, changes } = record;
    const { epoch } = after.fence;
    const plan = planOfWrite(before, after);
    for (const [id, step] of operation === 'commit' ? writtenSteps(changes) : after.steps) {
      if (!callOf(plan, id)) continue;
      const was = before?.steps.get(id);
      const stored = was?.round === step.round ? was.attempts : 0;
      if (operation !== 'commit') failed.taken(run, id, step, epoch, stored);
      if (actionAt(plan, id)?.kind === 'callback') failed.add(run, id, step, epoch, spentLater(record, id, was, step));
      const most = failed.most(run, id, step.round, epoch);
      if (step.attempts <= most) continue;
      report(
        `${printableRun(run)} ${id} round ${step.round}: ${step.attempts} attempts were spent on ${most} failures`,
      );
    }
  };

  return {
    see(record, before, after) {
      if (record.kind === 'answer' && failures.has(record.ending)) failed.note(record.call);
      if (record.kind === 'call' && before?.fence.epoch === record.epoch) {
        const { run, step, round, attempt, epoch } = record;
        // A later answer may come before the one that it makes late.
        if (actionAt(planOfRun(before), step)?.kind === 'callback') return;
        const spent = failed.most(run, step, round, epoch);
        if (attempt !== spent + 1)
          report(`${printableRun(run)} ${step} round ${round}: attempt ${attempt} follows ${spent} failures`);
      }
      if (record.kind === 'write' && record.result === 'done' && after) checkWrite(record, before, after);
    },
  };
};
