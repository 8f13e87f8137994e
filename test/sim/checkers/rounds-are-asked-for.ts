// A new round begins only when somebody asks for it: a retry, a rewind, a release, or news of a child with which the run failed. What is
// done stays done, unless a rewind goes back behind it; and a step that is retried keeps the run that it started.

import { branchOf } from '../../../flow/branch-path.ts';
import type { Changes } from '../../../flow/change.ts';
import { isExitCall } from '../../../flow/exit-call.ts';
import type { Plan } from '../../../flow/plan.ts';
import { type StepState, splitFieldKey } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { type InboxEvent, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { consumedBy, type MakeChecker, type RunView, writtenSteps } from './checker.ts';

type Kind = InboxEvent['kind'];

export const roundsAreAskedFor: MakeChecker = (subject, report) => {
  const checkRounds = ({ run, changes }: WriteHappening, before: RunView, after: RunView) => {
    const plan = subject.planOfWrite(before, after);
    const asked = consumedBy(changes, subject).filter((kind) => asksFor(kind));
    const rewound = stepsBehind(plan, asked);
    for (const id of isGoneBack(asked, before) ? rewound : []) {
      const [was, is] = [before.steps.get(id), after.steps.get(id)];
      if (was && was.round === is?.round)
        report(`${printableRun(run)} ${id} isn't begun anew, its run has gone back before it`);
    }
    for (const [id, step] of writtenSteps(changes)) {
      const was = before.steps.get(id);
      const tell = (wrong: string) => report(`${printableRun(run)} ${id}: ${wrong}`);
      const isAgain = was !== undefined && was.round !== step.round;
      const isRewound = rewound.has(branchOf(id)?.step ?? id);
      if (was?.status === StepStatus.DONE && isAgain && !isExitCall(id) && !isRewound)
        tell(`was DONE and begins round ${step.round}`);
      if (
        isAgain &&
        was.child !== undefined &&
        step.child === undefined &&
        !isRewound &&
        !isOtherList(id, before, after)
      )
        tell('is tried again, and has forgotten its run');
      // The last round's may be read until the step is done again.
      const output = isAgain ? outputLeft(id, changes, before, after) : undefined;
      if (was?.status === StepStatus.DONE && output !== undefined) tell(`is gone back behind, and leaves ${output}`);
      const wrong = wrongRound(id, step, before, after, asked);
      if (wrong !== undefined) tell(wrong);
    }
  };
  return {
    see(record, before, after) {
      if (record.kind === 'write' && record.result === 'done' && before && after) checkRounds(record, before, after);
    },
  };
};

function wrongRound(
  id: string,
  { round }: StepState,
  before: RunView,
  after: RunView,
  asked: readonly Kind[],
): string | undefined {
  const was = before.steps.get(id)?.round;
  const branch = branchOf(id);
  const ownersRound = branch && (after.steps.get(branch.step)?.round ?? 1);
  if (ownersRound !== undefined && was === undefined)
    return round === ownersRound ? undefined : `begins with round ${round}, its step is in ${ownersRound}`;
  if (ownersRound !== undefined && round > ownersRound) return `round ${round} is ahead of its step's, ${ownersRound}`;
  const from = was ?? 1;
  if (round === from) return undefined;
  // One write may carry several ends, each with what follows; and a release brings one round more for each branch of a list.
  const branches = [...before.steps.keys()].filter((path) => branchOf(path)?.step === id).length;
  const most = branch && asked.length > 0 ? (ownersRound ?? from) : from + asked.length * (1 + branches);
  return round < from || round > most ? `round ${round} follows ${from} unasked` : undefined;
}

/** A field of a step that stood there before this write, and still does. */
function outputLeft(id: string, { fields }: Changes, before: RunView, after: RunView): string | undefined {
  const isLeft = (key: string) => splitFieldKey(key).writer === id && after.fields.has(key) && !fields.get(key);
  return [...before.fields.keys()].find(isLeft);
}

function asksFor(kind: Kind): boolean {
  switch (kind.case) {
    case 'retry':
    case 'rewind':
    case 'release':
    case 'childReopened':
    case 'childEnded':
      return true;
    default:
      return false;
  }
}

/** A retry that moved to a version with another list begins that anew. */
function isOtherList(id: string, before: RunView, after: RunView): boolean {
  const owner = branchOf(id)?.step ?? id;
  return before.steps.get(owner)?.branches?.count !== after.steps.get(owner)?.branches?.count;
}

/** Whether a write does what one rewind asks, and nothing else that begins anything anew. */
function isGoneBack(asked: readonly Kind[], { control }: RunView): boolean {
  const [kind] = asked;
  const { state, outcomeNumber } = control.status;
  const mayGoBack = (state === State.FAILED || state === State.CANCELLED) && !control.superseded;
  return asked.length === 1 && kind?.case === 'rewind' && mayGoBack && kind.value.outcomeNumber === outcomeNumber;
}

/** The steps that rewinds go back to, and all that follow them. */
function stepsBehind(plan: Plan | undefined, asked: readonly Kind[]): ReadonlySet<string> {
  const behind = new Set<string>();
  for (const kind of asked) if (kind.case === 'rewind') behind.add(kind.value.step);
  for (const { id, successors } of plan?.steps ?? []) {
    if (behind.has(id)) for (const next of successors) behind.add(next);
  }
  for (const id of [...behind]) if (!plan?.byId.has(id)) behind.delete(id);
  return behind;
}
