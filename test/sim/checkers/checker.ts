// What all checkers share: they see a history record by record, beside the run as it was stored just before and just after.

import type { Changes } from '../../../flow/change.ts';
import type { CallAction, Plan } from '../../../flow/plan.ts';
import type { Control, FieldValue, IndexEntries, RunId, StepState } from '../../../flow/run.ts';
import type { InboxEvent } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence } from '../../../store/port.ts';
import type { HistoryRecord } from '../world/history.ts';

/** A run as the accepted writes made it. Rebuilt from the history, not read from the store. */
export interface RunView {
  readonly fence: Fence;
  readonly control: Control;
  readonly steps: ReadonlyMap<string, StepState>;
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The process whose claim is the newest, until it lets go. */
  readonly holder: string | undefined;
  /** Claims since the last accepted commit. A run that is created claimed has one. */
  readonly barrenClaims: number;
}

/** Of the protocol, §4: a run that was claimed more often without an accepted commit is put aside. */
export const maxBarrenClaims = 16;

/** A run as the store has it in the end. */
export interface StoredView extends Pick<RunView, 'fence' | 'control' | 'steps' | 'fields'> {
  readonly entries: IndexEntries;
  readonly isHeld: boolean;
}

export interface Evidence {
  readonly records: readonly HistoryRecord[];
  /** Undefined for a version that was never published. */
  readonly planOf: (flow: string, version: number) => Plan | undefined;
  readonly stored: ReadonlyMap<RunId, StoredView>;
  /** Whether everything came to rest in the time given after healing. */
  readonly cameToRest: boolean;
}

/** The evidence, and what is looked up in it by several checkers. */
export interface Case extends Evidence {
  /** Everything that was ever posted, by id. */
  readonly events: ReadonlyMap<string, InboxEvent>;
  /** The plan that a run is pinned to. */
  readonly planOfRun: (run: Pick<RunView, 'control'>) => Plan | undefined;
}

export interface Checker {
  /** `before` and `after` differ for accepted writes only. */
  see(record: HistoryRecord, before: RunView | undefined, after: RunView | undefined): void;
  /** The history is over. */
  end?(runs: ReadonlyMap<RunId, RunView>): void;
}

/** Makes a checker for one history; it reports what it finds wrong. */
export type MakeChecker = (evidence: Case, report: (violation: string) => void) => Checker;

/** The call that a step of a plan stands for. */
export function callOf(plan: Plan | undefined, step: string): CallAction | undefined {
  const action = plan?.byId.get(step)?.action ?? plan?.exitCalls.find((exit) => exit.id === step)?.action;
  return action?.kind === 'call' ? action : undefined;
}

/** The steps that a write changed; those that it removed are left out. */
export function* writtenSteps({ steps }: Changes): Iterable<readonly [string, StepState]> {
  for (const [id, state] of steps) if (state) yield [id, state];
}
