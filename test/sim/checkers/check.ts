// Judges a history: every checker sees every record once.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { HistoryRecord, WriteHappening } from '../world/history.ts';
import { attemptsAreFailures } from './attempts-are-failures.ts';
import { callsCarryTheState } from './calls-carry-the-state.ts';
import { callsWithinBounds } from './calls-within-bounds.ts';
import type { Case, Evidence, MakeChecker, RunView } from './checker.ts';
import { childrenAreWanted } from './children-are-wanted.ts';
import { childrenComeUp } from './children-come-up.ts';
import { doubtsAreResolved } from './doubts-are-resolved.ts';
import { everythingEnds } from './everything-ends.ts';
import { finalAnswers } from './final-answers.ts';
import { foundAgain } from './found-again.ts';
import { generationsFollow } from './generations-follow.ts';
import { identityStands } from './identity-stands.ts';
import { inboxConsumedOnce } from './inbox-consumed-once.ts';
import { leavingTakesNothing } from './leaving-takes-nothing.ts';
import { legalPath } from './legal-path.ts';
import { listsAreJoined } from './lists-are-joined.ts';
import { lossesHaveCauses } from './losses-have-causes.ts';
import { newestMakesWay } from './newest-makes-way.ts';
import { noBugs } from './no-bugs.ts';
import { noEffectBeforeItsChange } from './no-effect-before-its-change.ts';
import { noEntriesAtRest } from './no-entries-at-rest.ts';
import { noStaleWrite } from './no-stale-write.ts';
import { nobodyIsRobbed } from './nobody-is-robbed.ts';
import { nothingLost } from './nothing-lost.ts';
import { obligationsFirst } from './obligations-first.ts';
import { oneOutcome } from './one-outcome.ts';
import { onlyPoisonIsParked } from './only-poison-is-parked.ts';
import { othersAreTold } from './others-are-told.ts';
import { outcomeFollows } from './outcome-follows.ts';
import { parkedForAReason } from './parked-for-a-reason.ts';
import { realOutputs } from './real-outputs.ts';
import { replayGivesTheStore } from './replay-gives-the-store.ts';
import { roundsAreAskedFor } from './rounds-are-asked-for.ts';
import { signalsAreKept } from './signals-are-kept.ts';
import { submissionsAreKept } from './submissions-are-kept.ts';
import { wishesAreGranted } from './wishes-are-granted.ts';
import { withdrawnMeansUnheard } from './withdrawn-means-unheard.ts';

const checkers = {
  'nothing lost': nothingLost,
  'submissions are kept': submissionsAreKept,
  'one outcome': oneOutcome,
  'no stale write': noStaleWrite,
  'doubts are resolved': doubtsAreResolved,
  'nobody is robbed': nobodyIsRobbed,
  'legal path': legalPath,
  'outcome follows': outcomeFollows,
  'obligations first': obligationsFirst,
  'children are wanted': childrenAreWanted,
  'children come up': childrenComeUp,
  'others are told': othersAreTold,
  'lists are joined': listsAreJoined,
  'signals are kept': signalsAreKept,
  'identity stands': identityStands,
  'generations follow': generationsFollow,
  'newest makes way': newestMakesWay,
  'wishes are granted': wishesAreGranted,
  'calls within bounds': callsWithinBounds,
  'rounds are asked for': roundsAreAskedFor,
  'calls carry the state': callsCarryTheState,
  'no effect before its change': noEffectBeforeItsChange,
  'final answers': finalAnswers,
  'real outputs': realOutputs,
  'inbox consumed once': inboxConsumedOnce,
  'attempts are failures': attemptsAreFailures,
  'losses have causes': lossesHaveCauses,
  'withdrawn means unheard': withdrawnMeansUnheard,
  'leaving takes nothing': leavingTakesNothing,
  'parked for a reason': parkedForAReason,
  'only poison is parked': onlyPoisonIsParked,
  'found again': foundAgain,
  'replay gives the store': replayGivesTheStore,
  'everything ends': everythingEnds,
  'no entries at rest': noEntriesAtRest,
  'no bugs': noBugs,
} satisfies Readonly<Record<string, MakeChecker>>;

export type CheckerName = keyof typeof checkers;

export interface Violation {
  readonly checker: CheckerName;
  readonly message: string;
}

/** What a history does against the guarantees, in the order in which it shows. */
export function check(evidence: Evidence): Violation[] {
  const violations: Violation[] = [];
  const subject = caseOf(evidence);
  const all = (Object.keys(checkers) as CheckerName[]).map((checker) =>
    checkers[checker](subject, (message) => violations.push({ checker, message })),
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

function caseOf(evidence: Evidence): Case {
  const events = new Map<string, InboxEvent>();
  // What came again under the same id changed nothing, whatever it said.
  for (const record of evidence.records)
    if (record.kind === 'post' && record.result === 'done') events.set(record.event.id, record.event);
  const planOfRun: Case['planOfRun'] = ({ control }) => evidence.planOf(control.flow, control.flowVersion);
  const planOfWrite: Case['planOfWrite'] = (before, after) => planOfRun(before ?? after);
  return { ...evidence, events, planOfRun, planOfWrite };
}

/** The checkers' own `apply`: what an accepted write makes of a run. */
function noteWrite(runs: Map<RunId, RunView>, record: HistoryRecord & WriteHappening): void {
  const { run, changes, after, holder, operation, release, process, supersedes } = record;
  const before = runs.get(run);
  const control = changes.control ?? before?.control;
  if (!control || !after) throw new Error(`a write of ${printableRun(run)} was accepted, and the run is not there`);
  const steps = new Map(before?.steps);
  for (const [id, state] of changes.steps) {
    if (state === null) steps.delete(id);
    else steps.set(id, state);
  }
  const fields = new Map(before?.fields);
  for (const [key, value] of changes.fields) {
    if (value === null) fields.delete(key);
    else fields.set(key, value);
  }
  const heldBy = operation === 'commit' ? (release ? undefined : before?.holder) : holder && process;
  const barrenClaims = operation === 'commit' ? 0 : (before?.barrenClaims ?? 0) + (holder ? 1 : 0);
  const isVersionNew = before !== undefined && before.control.flowVersion !== control.flowVersion;
  const isMoved = isVersionNew || (operation === 'commit' && before?.isMoved === true);
  runs.set(run, { fence: after, control, steps, fields, holder: heldBy, barrenClaims, isMoved });
  const older = supersedes === undefined ? undefined : runs.get(supersedes);
  if (supersedes === undefined || !older) return;
  const fence = { epoch: older.fence.epoch, version: older.fence.version + 1 };
  runs.set(supersedes, { ...older, fence, control: { ...older.control, superseded: true } });
}
