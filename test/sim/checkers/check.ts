// Judges a history: every checker sees every record once.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { HistoryRecord, WriteHappening } from '../world/history.ts';
import { attemptsAreFailures } from './attempts-are-failures.ts';
import { callsWithinBounds } from './calls-within-bounds.ts';
import type { Evidence, MakeChecker, RunView } from './checker.ts';
import { everythingEnds } from './everything-ends.ts';
import { finalAnswers } from './final-answers.ts';
import { inboxConsumedOnce } from './inbox-consumed-once.ts';
import { noBugs } from './no-bugs.ts';
import { noEffectBeforeItsChange } from './no-effect-before-its-change.ts';
import { noEntriesAtRest } from './no-entries-at-rest.ts';
import { noStaleWrite } from './no-stale-write.ts';
import { nothingLost } from './nothing-lost.ts';
import { oneOutcome } from './one-outcome.ts';
import { parkedForAReason } from './parked-for-a-reason.ts';
import { realOutputs } from './real-outputs.ts';

const checkers = {
  'nothing lost': nothingLost,
  'one outcome': oneOutcome,
  'no stale write': noStaleWrite,
  'calls within bounds': callsWithinBounds,
  'no effect before its change': noEffectBeforeItsChange,
  'final answers': finalAnswers,
  'real outputs': realOutputs,
  'inbox consumed once': inboxConsumedOnce,
  'attempts are failures': attemptsAreFailures,
  'parked for a reason': parkedForAReason,
  'everything ends': everythingEnds,
  'no entries at rest': noEntriesAtRest,
  'no bugs': noBugs,
} satisfies Readonly<Record<string, MakeChecker>>;

export type CheckerName = keyof typeof checkers;

export interface Violation {
  readonly checker: CheckerName;
  readonly message: string;
}

export function check(evidence: Evidence): Violation[] {
  const violations: Violation[] = [];
  const all = (Object.keys(checkers) as CheckerName[]).map((checker) =>
    checkers[checker](evidence, (message) => violations.push({ checker, message })),
  );
  const runs = new Map<RunId, RunView>();
  for (const record of evidence.records) {
    const before = 'run' in record ? runs.get(record.run) : undefined;
    if (record.kind === 'write' && record.result === 'done') noteWrite(runs, record);
    const after = 'run' in record ? runs.get(record.run) : undefined;
    for (const checker of all) checker.see(record, before, after);
  }
  for (const checker of all) checker.end?.(runs);
  return violations;
}

function noteWrite(runs: Map<RunId, RunView>, record: HistoryRecord & WriteHappening): void {
  const { run, changes, after } = record;
  const before = runs.get(run);
  const control = changes.control ?? before?.control;
  if (!control || !after) throw new Error(`a write of ${printableRun(run)} was accepted, and the run is not there`);
  const steps = changes.steps.size > 0 ? new Map([...(before?.steps ?? []), ...changes.steps]) : before?.steps;
  runs.set(run, { fence: after, control, steps: steps ?? new Map() });
}
