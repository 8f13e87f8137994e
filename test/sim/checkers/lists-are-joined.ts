// A step that goes through a list does so once for each element, so many at a time: what is done of it stays done until it is gone back
// behind, what failed has another try when the step has, and in the end all results stand in the order of the list.

import { hasBit } from '../../../flow/bits.ts';
import { branchOf } from '../../../flow/branch-path.ts';
import type { ForEachAction } from '../../../flow/plan.ts';
import { type Branches, fieldKey, type StepState } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { elementsOf } from './branches.ts';
import { consumedBy, isUnderWay, type MakeChecker, type RunView } from './checker.ts';

export const listsAreJoined: MakeChecker = (subject, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after || after.isMoved) return;
    const plan = subject.planOfRun(after);
    const isRewound = consumedBy(record.changes, subject).some(({ case: kind }) => kind === 'rewind');
    for (const { id, action } of plan?.steps ?? []) {
      if (action.kind !== 'for_each' || !isTouched(id, record)) continue;
      const state = after.steps.get(id);
      const was = isRewound ? undefined : before?.steps.get(id);
      const all = state ? [...wrongIn(id, action, state, after), ...wrongSince(id, was, state, record, after)] : [];
      for (const wrong of all) report(`${printableRun(record.run)} ${id} ${wrong}`);
    }
  },
});

function isTouched(id: string, { changes }: WriteHappening): boolean {
  return [...changes.steps.keys()].some((path) => (branchOf(path)?.step ?? path) === id);
}

function* wrongIn(id: string, action: ForEachAction, state: StepState, run: RunView): Iterable<string> {
  const { status, branches } = state;
  const alive = [...run.steps].filter(([path, each]) => branchOf(path)?.step === id && isUnderWay(each.status));
  const isOpen = run.control.status.state === State.OPEN;
  if (status !== StepStatus.WAITING && isOpen && alive.length > 0)
    yield `is ${StepStatus[status]}, and ${alive.length} branches are under way`;
  if (!branches || (status !== StepStatus.WAITING && status !== StepStatus.DONE)) return;
  // One that goes on by itself, because its run does, has its turn when the list comes to it.
  const turns = alive.filter(([path]) => (branchOf(path)?.index ?? 0) < branches.next).length;
  if (turns > action.concurrency) yield `has ${turns} branches under way, at most ${action.concurrency} may be`;
  const elements = elementsOf(action, run);
  if (elements?.length !== branches.count) yield `counts ${branches.count} of ${elements?.length ?? 'no'} elements`;
  const failures = indexes(branches, (index) => hasBit(branches.failed, index)).length;
  if (failures > action.maxFailures) yield `goes on with ${failures} failures, ${action.maxFailures} may be`;
  const isDealtWith = (index: number) => hasBit(branches.done, index) || hasBit(branches.failed, index);
  const left = indexes(branches, (index) => !isDealtWith(index));
  if (status === StepStatus.WAITING) {
    if (isOpen && left.length === 0) yield 'waits for nothing';
    if (isOpen && alive.length === 0) yield 'waits, and none of its branches is under way';
    return;
  }
  if (left.length > 0) yield `is DONE without elements ${left.join()}`;
  const results = indexes(branches, () => true).map(
    (index) => textAt(run, fieldKey(`${id}[${index}]`, 'result')) ?? 'null',
  );
  const joined = textAt(run, fieldKey(id, action.into.name));
  if (joined !== `[${results.join(',')}]`) yield `joined ${joined}, its branches left ${results.join()}`;
}

/** What is wrong with how the bits have changed. */
function* wrongSince(
  id: string,
  was: StepState | undefined,
  { branches, status, reason, round }: StepState,
  { changes }: WriteHappening,
  after: RunView,
): Iterable<string> {
  const before = was?.branches;
  if (!branches || (before && before.count !== branches.count)) return;
  const lost = indexes(
    branches,
    (index) => before !== undefined && hasBit(before.done, index) && !hasBit(branches.done, index),
  );
  if (lost.length > 0) yield `has forgotten that elements ${lost.join()} are done`;
  const isNew = (index: number) => hasBit(branches.done, index) && !(before && hasBit(before.done, index));
  const empty = indexes(branches, isNew).filter((index) => !after.fields.has(fieldKey(`${id}[${index}]`, 'result')));
  if (empty.length > 0) yield `has no results of elements ${empty.join()}, which are done`;
  const dealtWith = (index: number) => hasBit(branches.done, index) || hasBit(branches.failed, index);
  for (const index of indexes(branches, (each) => !dealtWith(each))) {
    const path = `${id}[${index}]`;
    // What it left is stored: it is done.
    if (changes.fields.get(fieldKey(path, 'result')) && after.steps.get(path)?.status !== StepStatus.DONE)
      yield `has a result of element ${index}, which isn't done`;
  }
  // A release lets a list go on where it stood.
  const isAgain = was !== undefined && round > was.round && was.status !== StepStatus.WAITING;
  // One that can't begin fails again at once.
  const isKept = (index: number) =>
    before !== undefined &&
    hasBit(before.failed, index) &&
    hasBit(branches.failed, index) &&
    !changes.steps.has(`${id}[${index}]`);
  const kept = indexes(branches, (index) => isAgain && isKept(index));
  if (kept.length > 0) yield `is tried again without elements ${kept.join()}, which failed`;
  if (
    status === StepStatus.FAILED &&
    reason === Reason.BRANCHES &&
    indexes(branches, (index) => hasBit(branches.failed, index)).length === 0
  )
    yield 'failed for its branches, and none has';
}

function indexes({ count }: Branches, which: (index: number) => boolean): number[] {
  return Array.from({ length: count }, (_, index) => index).filter(which);
}

function textAt({ fields }: RunView, key: string): string | undefined {
  const value = fields.get(key);
  return value && Buffer.from(value.bytes).toString();
}
