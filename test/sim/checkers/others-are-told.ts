// What a run has to tell others it remembers until they know: its parent that it has ended, or goes on again; its children that nobody
// waits for them any more, or that its level has changed.

import type { RunId, Status } from '../../../flow/run.ts';
import { callKey, printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { AlarmKind, State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { childOf, isUnderWay, type MakeChecker, type RunView } from './checker.ts';

export const othersAreTold: MakeChecker = ({ planOfWrite }, report) => {
  /** Ids of events that reached the store, whatever became of them there. */
  const posted = new Set<string>();

  /** Whether the other has been told what a run remembered, before it was forgotten. */
  const isTold = (run: RunId, path: string, before: RunView): boolean => {
    const about = before.steps.get(path)?.message ?? '';
    const { outcomeNumber } = before.control.status;
    if (path === 'tell/parent') return posted.has(callKey(run, path, outcomeNumber));
    if (path === 'tell/reopened') return posted.has(callKey(run, path, Number(about)));
    // In the round in which its step was then.
    const beginning = callKey(run, path, 0).slice(0, -1);
    return [...posted].some((id) => id.startsWith(beginning) && id.endsWith(`/${about}`));
  };

  const checkForgotten = ({ run, changes }: WriteHappening, before: RunView, after: RunView) => {
    for (const path of changes.steps.keys()) {
      if (!path.startsWith('tell/') || !before.steps.has(path) || after.steps.has(path)) continue;
      const isGivenUp = changes.alarms.some(({ kind, step }) => kind === AlarmKind.EXIT_CALL_UNDONE && step === path);
      if (!isGivenUp && !isTold(run, path, before)) report(`${printableRun(run)} forgets ${path}, and told nobody`);
    }
  };

  const checkRemembered = ({ run }: WriteHappening, before: RunView, after: RunView) => {
    const has = (path: string) => after.steps.has(path) || report(`${printableRun(run)} has no ${path} to do`);
    const [was, is] = [before.control.status, after.control.status];
    if (after.control.parent?.waits === true) {
      if (is.state === State.ENDING && is.outcomeNumber !== was.outcomeNumber) has('tell/parent');
      if (isTerminal(is.state) && is.outcomeNumber !== was.outcomeNumber)
        report(`${printableRun(run)} is ${State[is.state]}, and never told its parent`);
      if (hasEnded(was) && is.state === State.OPEN) has('tell/reopened');
    }
    const plan = planOfWrite(before, after);
    const isNewLevel = after.control.level !== before.control.level;
    for (const [path, { status }] of before.steps) {
      if (childOf(plan, path)?.kind !== 'sub_flow' || !isUnderWay(status)) continue;
      const now = after.steps.get(path)?.status;
      if (now === StepStatus.CANCELLED) has(`tell/cancel/${path}`);
      if (isNewLevel && isUnderWay(now)) has(`tell/level/${path}`);
    }
  };

  return {
    see(record, before, after) {
      if (record.kind === 'post') posted.add(record.event.id);
      if (record.kind !== 'write' || record.result !== 'done' || !before || !after) return;
      checkForgotten(record, before, after);
      checkRemembered(record, before, after);
    },
  };
};

function hasEnded({ state }: Status): boolean {
  return isTerminal(state) || state === State.ENDING;
}
