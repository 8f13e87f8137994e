// The index finds every run that somebody has to look after: a held one by its lease, one that was let go when it may go on, or when
// the first of its times comes. Promotion makes ready what is due and unheld, at the fence that was seen, and keeps its time.

import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { PromotionHappening, WriteHappening } from '../world/history.ts';
import type { MakeChecker, RunView } from './checker.ts';

export const foundAgain: MakeChecker = (_evidence, report) => ({
  see(record, before, after) {
    if (record.kind === 'promotion' && before) {
      const wrong = wrongPromotion(record, before);
      if (wrong) report(`${printableRun(record.run)} was promoted ${wrong}`);
    }
    if (record.kind !== 'write' || record.result !== 'done' || !after || !record.entries) return;
    const wrong = wrongEntries(record, after);
    if (wrong) report(`${printableRun(record.run)} after a ${record.operation} by ${record.process}: ${wrong}`);
  },
});

function wrongEntries({ entries, operation, holder }: WriteHappening, run: RunView): string | undefined {
  const { ready = false, timerMs, leaseMs } = entries ?? {};
  const { state } = run.control.status;
  if (operation === 'claim' || holder) return leaseMs === undefined || ready ? 'it is held without a lease' : undefined;
  const isIdle = isTerminal(state) || state === State.PARKED;
  if (isIdle) return ready || timerMs !== undefined || leaseMs !== undefined ? 'it is at rest with entries' : undefined;
  if (timerMs === undefined)
    return ready ? 'it is ready, and nothing tells when its time is over' : 'it is in no index';
  const endMs = state === State.OPEN ? run.control.deadlineMs : Infinity;
  if (ready) return timerMs > endMs ? 'its timer is later than its deadline' : undefined;
  let firstMs = endMs;
  let isWaiting = false;
  for (const { status, dueMs } of run.steps.values()) {
    if (status === StepStatus.RUNNING) return 'it sleeps with a call that somebody has to count as lost';
    if (status !== StepStatus.SLEEPING && status !== StepStatus.WAITING) continue;
    isWaiting = true;
    // Whoever waits for others may wait as long as the run may take.
    if (status === StepStatus.SLEEPING || dueMs > 0) firstMs = Math.min(firstMs, dueMs);
  }
  if (!isWaiting) return 'it waits for nothing, and nobody is to go on with it';
  return timerMs > firstMs ? `it sleeps until ${timerMs}, and is due at ${firstMs}` : undefined;
}

function wrongPromotion({ seen, actual, before, after }: PromotionHappening, run: RunView): string | undefined {
  const { state } = run.control.status;
  if (seen.epoch !== actual.epoch || seen.version !== actual.version) return 'at another fence than was seen';
  if (run.holder !== undefined) return `while ${run.holder} holds it`;
  if (isTerminal(state) || state === State.PARKED) return `and is ${State[state]}`;
  if (after.timerMs === undefined) return 'and lost its timer';
  if (state !== State.OPEN) return undefined;
  const endMs = Math.max(run.control.deadlineMs, before.timerMs ?? 0);
  return after.timerMs > endMs ? 'with a timer later than its deadline' : undefined;
}
