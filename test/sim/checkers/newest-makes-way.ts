// Whoever expects the generation that is the newest, and has ended, isn't turned away for it.

import type { RunId } from '../../../flow/run.ts';
import { printableRun, runId, runParts } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import type { ClientHappening } from '../world/history.ts';
import type { MakeChecker } from './checker.ts';

export const newestMakesWay: MakeChecker = (_evidence, report) => {
  /** The outcome number of each run that has ended and has no successor. */
  const ready = new Map<RunId, number>();
  /** What was ready when a submission that expects it began, by its number. */
  const expected = new Map<number, number>();
  const checkClient = ({ what, run, submission, detail }: ClientHappening) => {
    if (!submission || submission.expectedGeneration === 0) return;
    const former = runId({ ...runParts(run), generation: submission.expectedGeneration });
    const outcomeNumber = ready.get(former);
    if (outcomeNumber === undefined) return;
    if (what === 'submitted') expected.set(submission.number, outcomeNumber);
    if (what !== 'turned away' || !detail.startsWith('generation')) return;
    // It has been so all the time.
    if (expected.get(submission.number) === outcomeNumber)
      report(`${printableRun(run)} was turned away (${detail}), and ${printableRun(former)} has ended`);
  };
  return {
    see(record, _before, after) {
      if (record.kind === 'client') checkClient(record);
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { status, superseded } = after.control;
      if (record.supersedes !== undefined) ready.delete(record.supersedes);
      if (isTerminal(status.state) && !superseded) ready.set(record.run, status.outcomeNumber);
      else ready.delete(record.run);
    },
  };
};
