// Faults between runs: children that are started, stopped, retried, and what is told from one to the other.

import type { Mutant } from './mutant.ts';

const child = 'flow/steps/child.ts';
const ending = 'flow/ending.ts';
const inbox = 'flow/events/inbox.ts';
const rearm = 'flow/rearm.ts';
const tell = 'flow/tell.ts';

export const familyMutants: readonly Mutant[] = [
  {
    name: 'a child has one name in all rounds',
    file: 'flow/child-name.ts',
    line: 'draft.step(path)?.round ?? 1);',
    instead: '1);',
    caughtBy: 'children come up',
  },
  {
    name: 'a child is given more time than its parent has',
    file: 'dispatch/driver/start-run.ts',
    line: '...(effect.deadlineMs !== undefined && { latestMs: effect.deadlineMs }),',
    instead: '',
    caughtBy: 'children are wanted',
  },
  {
    name: 'a chain of runs never ends',
    file: child,
    line: 'chainLength(draft) >= action.maxChain',
    instead: 'chainLength(draft) > action.maxChain',
    caughtBy: 'children are wanted',
  },
  {
    name: 'a parent is not told',
    file: tell,
    line: 'if (draft.control.parent?.waits === true) tell(draft, tellParent);',
    instead: '',
    caughtBy: 'others are told',
  },
  {
    name: 'a parent is not told that its child goes on again',
    file: tell,
    line: 'if (draft.control.parent?.waits === true) tell(draft, tellReopened, String(draft.status.outcomeNumber));',
    instead: '',
    caughtBy: 'others are told',
  },
  {
    name: 'what nobody heard counts as told',
    file: 'dispatch/driver/tell-run.ts',
    line: "return posted.kind === 'unknown' ? 'unknown' : 'told';",
    instead: "return 'told';",
    caughtBy: 'others are told',
  },
  {
    name: 'an ending does not wait until others are told',
    file: ending,
    line: 'for (const [id] of draft.reached()) if (isTelling(id)) return;',
    instead: '',
    caughtBy: 'obligations first',
  },
  {
    name: 'a parent never looks at its child',
    file: child,
    line: 'const dueMs = draft.context.nowMs + pauseMs;',
    instead: 'const dueMs = pauseMs < 0 ? draft.context.nowMs : 0;',
    caughtBy: 'legal path',
  },
  {
    name: 'a cancel does not go down',
    file: ending,
    line: "if (action?.kind === 'sub_flow') tellCancel(draft, path);",
    instead: '',
    caughtBy: 'others are told',
  },
  {
    name: 'a level does not go down',
    file: inbox,
    line: "if (isUnderWay(status) && actionOf(draft, path)?.kind === 'sub_flow') tellLevel(draft, path, cause);",
    instead: 'void [path, status, cause, tellLevel];',
    caughtBy: 'others are told',
  },
  {
    name: 'a retry starts another child',
    file: rearm,
    line: '...(child !== undefined && { child }),',
    instead: '',
    caughtBy: 'rounds are asked for',
  },
  {
    name: 'an outcome that is over counts',
    file: child,
    line: 'const isNew = state.child === undefined || end.outcomeNumber > (state.childOutcome ?? Infinity);',
    instead: 'const isNew = end.outcomeNumber > 0;',
    caughtBy: 'children come up',
  },
  {
    name: 'what a child leaves is not kept',
    file: child,
    line: 'if (value) draft.setField(fieldKey(path, name), value);',
    instead: '',
    caughtBy: 'children come up',
  },
  {
    name: 'a child that goes on again leaves its parent failed',
    file: inbox,
    line: 'if (isCurrent && hasFailedWith(draft, step, child)) goOnWith(draft, step);',
    instead: 'void [isCurrent, child];',
    caughtBy: 'wishes are granted',
  },
  {
    name: 'an ending uses up a retry',
    file: inbox,
    line: 'if (draft.status.state === State.ENDING && mayReopen(draft, event)) return;',
    instead: '',
    caughtBy: 'wishes are granted',
  },
];
