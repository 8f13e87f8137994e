// Faults of joins, lists, waits, callbacks, and of what a retry or a rewind begins anew.

import type { Mutant } from './mutant.ts';

const call = 'flow/steps/call.ts';
const forEach = 'flow/steps/for-each.ts';
const inbox = 'flow/events/inbox.ts';
const join = 'flow/steps/join.ts';
const rearm = 'flow/rearm.ts';
const result = 'flow/branch-result.ts';

export const languageMutants: readonly Mutant[] = [
  {
    name: 'a join passes with one fewer',
    file: join,
    line: "if (done >= need) return 'enough';",
    instead: "if (done >= Math.max(1, need - 1)) return 'enough';",
    caughtBy: 'legal path',
  },
  {
    name: 'losers of a join are not stopped',
    file: join,
    line: 'if (!action.cancels) return;',
    instead: 'if (action.branches.size >= 0) return;',
    caughtBy: 'legal path',
  },
  {
    name: 'behind a join is seen what came after it',
    file: join,
    line: 'draft.settle(step.id, StepStatus.DONE, { chosen: doneBefore(draft, action) });',
    instead: 'draft.settle(step.id, StepStatus.DONE, { chosen: [...action.unawaited] });',
    caughtBy: 'legal path',
  },
  {
    name: 'a branch that a join does without fails the run',
    file: 'flow/advance.ts',
    line: 'return draft.step(join.id)?.status !== StepStatus.FAILED || isDispensable(draft, join);',
    instead: 'return join.id === step.id;',
    caughtBy: 'outcome follows',
  },
  {
    name: 'a branch that is done is not noted',
    file: forEach,
    line: 'branches = { ...branches, done: withBit(branches.done, branch.index) };',
    instead: 'branches = { ...branches };',
    caughtBy: 'lists are joined',
  },
  {
    name: 'all branches begin at once',
    file: forEach,
    line: 'live < action.concurrency && next < count;',
    instead: 'live < count && next < count;',
    caughtBy: 'lists are joined',
  },
  {
    name: 'one failure more than may be is borne',
    file: forEach,
    line: 'if (failures > action.maxFailures) {',
    instead: 'if (failures > action.maxFailures + 1) {',
    caughtBy: 'lists are joined',
  },
  {
    name: 'results stand in the wrong order',
    file: result,
    line: "parts.push(result ? getTextEncoding().decodeUtf8(result.bytes) : 'null');",
    instead: "parts.unshift(result ? getTextEncoding().decodeUtf8(result.bytes) : 'null');",
    caughtBy: 'lists are joined',
  },
  {
    name: 'branches that failed have no other try',
    file: rearm,
    line: '...(branches && { branches: { ...branches, failed: emptyBits(branches.count), next: 0 } }),',
    instead: '...(branches && { branches: { ...branches, next: 0 } }),',
    caughtBy: 'lists are joined',
  },
  {
    name: 'a signal that comes early is dropped',
    file: 'flow/steps/wait.ts',
    line: 'if (taken) return;',
    instead: 'if (taken || fields) return;',
    caughtBy: 'signals are kept',
  },
  {
    name: 'waits end early',
    file: 'flow/wake.ts',
    line: 'dueMs <= draft.context.nowMs)',
    instead: 'dueMs <= draft.context.nowMs + 700)',
    caughtBy: 'signals are kept',
  },
  {
    name: 'work that was taken on counts as done',
    file: call,
    line: "const isTakenOn = actionOf(draft, id)?.kind === 'callback';",
    instead: 'const isTakenOn = false;',
    caughtBy: 'real outputs',
  },
  {
    name: 'an answer to another round counts',
    file: inbox,
    line: 'if (!isOpen(draft) || !isUnderWay(step?.status) || step?.round !== event.round) return;',
    instead: 'if (!isOpen(draft) || !isUnderWay(step?.status)) return;',
    caughtBy: 'real outputs',
  },
  {
    name: 'a rewind keeps outputs',
    file: rearm,
    line: 'for (const key of draft.fieldsOf(id)) draft.removeField(key);',
    instead: '',
    caughtBy: 'rounds are asked for',
  },
  {
    name: 'a rewind goes back for one step only',
    file: rearm,
    line: 'if (again.has(step.id)) for (const next of step.successors) again.add(next);',
    instead: '',
    caughtBy: 'rounds are asked for',
  },
  {
    name: 'a run that was moved is decided on by its old version',
    file: 'flow/advance.ts',
    line: 'if (draft.control.flowVersion !== draft.plan.version) return;',
    instead: '',
    caughtBy: 'legal path',
  },
];
