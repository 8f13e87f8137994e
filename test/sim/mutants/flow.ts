// Faults of decisions: what follows when something happens to a run.

import type { Mutant } from './mutant.ts';

const advance = 'flow/advance.ts';
const call = 'flow/steps/call.ts';
const ending = 'flow/ending.ts';
const inbox = 'flow/events/inbox.ts';
const rearm = 'flow/rearm.ts';
const returnCode = 'flow/return-code.ts';
const standing = 'flow/standing.ts';

export const flowMutants: readonly Mutant[] = [
  {
    name: 'a join of nothing passes',
    file: advance,
    line: "return anyDone ? 'reached' : 'skipped';",
    instead: "return 'reached';",
    caughtBy: 'legal path',
  },
  {
    name: 'a join waits for one only',
    file: advance,
    line: 'for (const id of step.after) {',
    instead:
      'for (const id of [step.after.find((each) => draft.step(each)?.status === StepStatus.DONE) ?? step.after].flat()) {',
    caughtBy: 'legal path',
  },
  {
    name: 'a skipped step runs',
    file: advance,
    line: "if (reached === 'skipped' || !holds(draft, step)) {",
    instead: 'if (!holds(draft, step)) {',
    caughtBy: 'legal path',
  },
  {
    name: 'conditions are not looked at',
    file: advance,
    line: "if (reached === 'skipped' || !holds(draft, step)) {",
    instead: "if (reached === 'skipped') {",
    caughtBy: 'legal path',
  },
  {
    name: 'a switch takes its first case',
    file: 'flow/steps/switch.ts',
    line: 'if (result.value) return',
    instead: 'if (result.kind) return',
    caughtBy: 'legal path',
  },
  {
    name: 'deadlines are ignored',
    file: advance,
    line: 'if (draft.context.nowMs >= draft.control.deadlineMs) {',
    instead: 'if (draft.control.deadlineMs < 0) {',
    caughtBy: 'outcome follows',
  },
  {
    name: 'late answers are accepted',
    file: 'flow/events/answered.ts',
    line: 'if (step.round !== event.round || step.attempts + 1 !== event.attempt) return;',
    instead: '',
    caughtBy: 'real outputs',
  },
  {
    name: 'a claim counts no loss',
    file: 'flow/events/claimed.ts',
    line: "loseCall(draft, id, step, '');",
    instead: 'draft.calls.add(id);',
    caughtBy: 'losses have causes',
  },
  {
    name: 'losses are not counted',
    file: call,
    line: 'const state = { ...before, losses: before.losses + 1 };',
    instead: 'const state = { ...before };',
    caughtBy: 'losses have causes',
  },
  {
    name: 'losses are counted twice',
    file: call,
    line: 'const state = { ...before, losses: before.losses + 1 };',
    instead: 'const state = { ...before, losses: before.losses + 2 };',
    caughtBy: 'losses have causes',
  },
  {
    name: 'a loss spends an attempt',
    file: call,
    line: 'const state = { ...before, losses: before.losses + 1 };',
    instead: 'const state = { ...before, losses: before.losses + 1, attempts: before.attempts + 1 };',
    caughtBy: 'attempts are failures',
  },
  {
    name: 'attempts are not counted',
    file: call,
    line: 'const state = { ...before, attempts: before.attempts + 1 };',
    instead: 'const state = { ...before };',
    caughtBy: 'attempts are failures',
  },
  {
    name: 'the call key changes when a run is claimed again',
    file: call,
    line: 'callKey: callKey(draft.runId, id, state.round),',
    instead: 'callKey: callKey(draft.runId, id, state.round + state.losses),',
    caughtBy: 'calls within bounds',
  },
  {
    name: 'answers are not kept',
    file: call,
    line: 'for (const [name, value] of kept) draft.setField(fieldKey(id, name), value);',
    instead: '',
    caughtBy: 'real outputs',
  },
  {
    name: 'overload spends an attempt',
    file: returnCode,
    line: "[Ending.OVERLOADED]: { kind: 'decline', alarm: AlarmKind.OVERLOAD },",
    instead: "[Ending.OVERLOADED]: { kind: 'retry', reason: Reason.EXHAUSTED },",
    caughtBy: 'attempts are failures',
  },
  {
    name: 'a fatal answer is tried again',
    file: returnCode,
    line: "[Ending.FATAL]: { kind: 'fail', reason: Reason.FATAL },",
    instead: "[Ending.FATAL]: { kind: 'retry', reason: Reason.FATAL },",
    caughtBy: 'final answers',
  },
  {
    name: 'a status is terminal before its exit calls are done',
    file: ending,
    line: 'if (open > 0) return;',
    instead: '',
    caughtBy: 'obligations first',
  },
  {
    name: 'an exit call is given up without an alarm',
    file: 'flow/exit-call.ts',
    line: 'draft.alarm(AlarmKind.EXIT_CALL_UNDONE,',
    instead: 'void (AlarmKind.EXIT_CALL_UNDONE,',
    caughtBy: 'obligations first',
  },
  {
    name: 'exit calls are made for every outcome',
    file: ending,
    line: 'exitState !== undefined && exit.when.has(exitState)',
    instead: 'exitState !== undefined && exit.when.size > 0',
    caughtBy: 'obligations first',
  },
  {
    name: 'an ending leaves calls out',
    file: ending,
    line: 'draft.settle(path, StepStatus.CANCELLED);',
    instead: '',
    caughtBy: 'outcome follows',
  },
  {
    name: 'outcomes have one number',
    file: ending,
    line: 'const outcomeNumber = draft.status.outcomeNumber + 1;',
    instead: 'const outcomeNumber = 1;',
    caughtBy: 'one outcome',
  },
  {
    name: 'a retry names no outcome',
    file: inbox,
    line: 'if (!ended || superseded || status.outcomeNumber !== asked.outcomeNumber || !rearm(next !== flowVersion)) return;',
    instead: 'if (!ended || superseded || !rearm(next !== flowVersion)) return;',
    caughtBy: 'one outcome',
  },
  {
    name: 'a superseded run is tried again',
    file: inbox,
    line: 'if (!ended || superseded || status.outcomeNumber !== asked.outcomeNumber || !rearm(next !== flowVersion)) return;',
    instead: 'if (!ended || status.outcomeNumber !== asked.outcomeNumber || !rearm(next !== flowVersion)) return;',
    caughtBy: 'generations follow',
  },
  {
    name: 'a retry repeats what is done',
    file: rearm,
    line: 'if (isExitCall(path)) draft.setStep(path, rearmed(step));',
    instead: 'if (isExitCall(path) || step.status === StepStatus.DONE) draft.setStep(path, rearmed(step));',
    caughtBy: 'calls within bounds',
  },
  {
    name: 'a release begins no new round',
    file: inbox,
    line: 'if (!branch || !owner) return draft.setStep(path, rearmed(step));',
    instead: 'if (!branch || !owner) return draft.setStep(path, { ...rearmed(step), round: step.round });',
    caughtBy: 'calls within bounds',
  },
  {
    name: 'a parked run is not cancelled',
    file: inbox,
    line: 'if (!isOpen(draft)) return;',
    instead: 'if (draft.status.state !== State.OPEN) return;',
    caughtBy: 'wishes are granted',
  },
  {
    name: 'a cancel changes an outcome that stands',
    file: inbox,
    line: 'if (!isOpen(draft)) return;',
    instead: 'if (draft.status.state === State.CANCELLED) return;',
    caughtBy: 'one outcome',
  },
  {
    name: 'a run that was let go to sleep is in no index',
    file: standing,
    line: '? { ready: false, timerMs: wakeMs }',
    instead: '? { ready: false }',
    caughtBy: 'found again',
  },
  {
    name: 'sleepers sleep until the deadline',
    file: standing,
    line: '? { ready: false, timerMs: wakeMs }',
    instead: '? { ready: false, timerMs: endMs }',
    caughtBy: 'found again',
  },
  {
    name: 'a run that has ended keeps a timer',
    file: standing,
    line: "if (stands.kind === 'parked' || stands.kind === 'ended') return { ready: false };",
    instead: "if (stands.kind === 'parked' || stands.kind === 'ended') return { ready: false, timerMs: nowMs + 1e10 };",
    caughtBy: 'found again',
  },
];
