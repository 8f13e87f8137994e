// A new generation begins only when the one before it has ended, once; and the older one never changes afterwards.

import type { RunId } from '../../../flow/run.ts';
import { printableRun, runId, runParts } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import type { MakeChecker } from './checker.ts';

export const generationsFollow: MakeChecker = (_evidence, report) => {
  /** The outcome of each run that has ended. */
  const ended = new Map<RunId, State>();
  const superseded = new Set<RunId>();
  const checkCreation = ({ run, supersedes }: WriteHappening) => {
    const { generation, ...item } = runParts(run);
    const name = printableRun(run);
    const former = generation > 1 ? runId({ ...item, generation: generation - 1 }) : undefined;
    if (supersedes !== former)
      report(`${name} takes the place of ${supersedes ? printableRun(supersedes) : 'nothing'}`);
    if (former === undefined) return;
    if (superseded.has(former)) report(`${printableRun(former)} was superseded twice`);
    if (!ended.has(former)) report(`${name} was created before ${printableRun(former)} had ended`);
    superseded.add(former);
  };
  return {
    see(record, before, after) {
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { run } = record;
      const { state } = after.control.status;
      if (record.operation === 'create') {
        checkCreation(record);
        // A flow without calls ends in the write that creates the run.
        if (isTerminal(state)) ended.set(run, state);
        return;
      }
      if (superseded.has(run)) {
        const was = before?.control.status;
        if (
          was?.state !== state ||
          was.outcomeNumber !== after.control.status.outcomeNumber ||
          record.changes.steps.size > 0
        )
          report(`${printableRun(run)} was superseded and goes on, to ${State[state]}`);
      }
      if (isTerminal(state)) ended.set(run, state);
      else ended.delete(run);
    },
  };
};
