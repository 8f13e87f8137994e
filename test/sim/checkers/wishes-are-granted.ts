// An event that is consumed does what it says, where it isn't too late: a cancel ends what is open or parked, a retry or a
// rewind that names the present outcome reopens it unless a newer generation is there, a release lets a parked run go on, a level that exists is taken.

import { branchOf } from '../../../flow/branch-path.ts';
import { isLevel } from '../../../flow/level.ts';
import type { Plan } from '../../../flow/plan.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { type InboxEvent, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { consumedBy, type MakeChecker, type RunView } from './checker.ts';
import { isDoneWithout } from './flow-rules.ts';

export const wishesAreGranted: MakeChecker = (subject, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !before || !after) return;
    const consumed = consumedBy(record.changes, subject);
    const plan = subject.planOfRun(before);
    for (const kind of consumed) {
      if (kind.case === 'rewind' && !plan?.byId.has(kind.value.step)) continue;
      const wrong = ignored(kind, consumed, plan, before, after);
      if (wrong) report(`${printableRun(record.run)}: a ${kind.case} was consumed and ${wrong}`);
    }
  },
});

function ignored(
  kind: InboxEvent['kind'],
  all: ReadonlyArray<InboxEvent['kind']>,
  plan: Plan | undefined,
  before: RunView,
  after: RunView,
): string | undefined {
  const [was, is] = [before.control.status, after.control.status];
  const isSame = is.state === was.state && is.outcomeNumber === was.outcomeNumber;
  switch (kind.case) {
    case 'cancel': {
      // Whoever asks to try again in the same breath has the last word.
      const isReopened = all.some((other) => other.case === 'retry' || other.case === 'rewind');
      const goesOn = is.state === State.OPEN || is.state === State.PARKED;
      return goesOn && !isReopened && isOpen(was.state) ? `it is ${State[is.state]}` : undefined;
    }
    case 'retry':
    case 'rewind': {
      // What comes while it ends is for whoever finds it ended.
      const isEnding = was.state === State.ENDING && was.outcome !== State.SUCCEEDED;
      const mayTry = was.state === State.FAILED || was.state === State.CANCELLED || isEnding;
      const isMeant = was.outcomeNumber === kind.value.outcomeNumber && !before.control.superseded;
      return mayTry && isMeant && is.outcomeNumber === was.outcomeNumber && is.state !== State.OPEN
        ? `it stays ${State[is.state]}`
        : undefined;
    }
    case 'childReopened': {
      const step = before.steps.get(kind.value.step);
      const isIts = step?.status === StepStatus.FAILED && step.child === kind.value.child;
      const isWaitedFor = plan !== undefined && !isPathDoneWithout(plan, before, kind.value.step);
      const isPresent = step?.childOutcome === kind.value.outcomeNumber && !before.control.superseded;
      const isMeant = isIts && isWaitedFor && isPresent;
      return was.state === State.FAILED && isMeant && isSame ? `it stays ${State[is.state]}` : undefined;
    }
    case 'release':
      return was.state === State.PARKED && isSame ? 'it stays PARKED' : undefined;
    case 'level': {
      const last = all.findLast((other) => other.case === 'level');
      // One that ended meanwhile, and began again, came by the event while it was at rest.
      const isSameStay = isOpen(was.state) && isOpen(is.state) && was.outcomeNumber === is.outcomeNumber;
      if (last !== kind || !isLevel(kind.value.level) || !isSameStay) return undefined;
      return after.control.level === kind.value.level ? undefined : `its level is ${after.control.level}`;
    }
    default:
      return undefined;
  }
}

/** What it was for is done: a list that bears its failure, a join that needs others. */
function isPathDoneWithout(plan: Plan, run: RunView, path: string): boolean {
  const owner = branchOf(path)?.step;
  const isBorne = owner !== undefined && run.steps.get(owner)?.status === StepStatus.DONE;
  return isBorne || isDoneWithout(plan, run, owner ?? path);
}

function isOpen(state: State): boolean {
  return state === State.OPEN || state === State.PARKED;
}
