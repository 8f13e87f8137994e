// What all checkers share: they see a history record by record, beside the run as it was stored just before and just after.

import type { CallAction, Plan } from '../../../flow/plan.ts';
import type { Control, IndexEntries, RunId, StepState } from '../../../flow/run.ts';
import type { Fence } from '../../../store/port.ts';
import type { HistoryRecord } from '../world/history.ts';

/** A run as the accepted writes made it. Rebuilt from the history, not read from the store. */
export interface RunView {
  readonly fence: Fence;
  readonly control: Control;
  readonly steps: ReadonlyMap<string, StepState>;
}

/** A run as the store has it in the end. */
export interface StoredView extends RunView {
  readonly entries: IndexEntries;
}

export interface Evidence {
  readonly records: readonly HistoryRecord[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly stored: ReadonlyMap<RunId, StoredView>;
  /** Whether everything came to rest in the time given after healing. */
  readonly cameToRest: boolean;
}

export interface Checker {
  /** `before` and `after` differ for accepted writes only. */
  see(record: HistoryRecord, before: RunView | undefined, after: RunView | undefined): void;
  /** The history is over. */
  end?(runs: ReadonlyMap<RunId, RunView>): void;
}

/** Makes a checker for one history; it reports what it finds wrong. */
export type MakeChecker = (evidence: Evidence, report: (violation: string) => void) => Checker;

/** The call that a step of a plan stands for. */
export function callOf(plan: Plan | undefined, step: string): CallAction | undefined {
  const action = plan?.byId.get(step)?.action ?? plan?.exitCalls.find((exit) => exit.id === step)?.action;
  return action?.kind === 'call' ? action : undefined;
}
