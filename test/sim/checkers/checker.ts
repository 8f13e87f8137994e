// What all checkers share: they see a history record by record, beside the run as it was stored just before and just after.

import { branchOf } from '../../../flow/branch-path.ts';
import type { Changes } from '../../../flow/change.ts';
import type { Action, CallAction, Plan, StartFlowAction, SubFlowAction } from '../../../flow/plan.ts';
import type { Control, FieldValue, IndexEntries, RunId, StepState } from '../../../flow/run.ts';
import { type InboxEvent, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
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
  /** Its last holder moved it to another version, by which nothing is decided yet. */
  readonly isMoved: boolean;
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
  /** The plan by which a write was decided: of the version that the run had until then. */
  readonly planOfWrite: (before: RunView | undefined, after: RunView) => Plan | undefined;
}

export interface Checker {
  /** `before` and `after` differ for accepted writes only. */
  see(record: HistoryRecord, before: RunView | undefined, after: RunView | undefined): void;
  /** The history is over. */
  end?(runs: ReadonlyMap<RunId, RunView>): void;
}

/** Makes a checker for one history; it reports what it finds wrong. */
export type MakeChecker = (evidence: Case, report: (violation: string) => void) => Checker;

/** What stands behind a path: a step, a branch of one, a call on exit. Undefined for what is to be told, and for kept signals. */
export function actionAt(plan: Plan | undefined, path: string): Action | undefined {
  const action = plan?.byId.get(path)?.action ?? plan?.exitCalls.find((exit) => exit.id === path)?.action;
  const branch = action ? undefined : branchOf(path);
  const owner = branch && plan?.byId.get(branch.step)?.action;
  return owner?.kind === 'for_each' ? owner.branch : action;
}

/** The call that a path makes. */
export function callOf(plan: Plan | undefined, path: string): CallAction | undefined {
  const action = actionAt(plan, path);
  if (action?.kind === 'callback') return action.call;
  return action?.kind === 'call' ? action : undefined;
}

/** The run that a path starts. */
export function childOf(plan: Plan | undefined, path: string): SubFlowAction | StartFlowAction | undefined {
  const action = actionAt(plan, path);
  return action?.kind === 'sub_flow' || action?.kind === 'start_flow' ? action : undefined;
}

export function isSettled(status: StepStatus | undefined): boolean {
  return (
    status === StepStatus.DONE ||
    status === StepStatus.SKIPPED ||
    status === StepStatus.FAILED ||
    status === StepStatus.CANCELLED
  );
}

export function isUnderWay(status: StepStatus | undefined): boolean {
  return status === StepStatus.RUNNING || status === StepStatus.SLEEPING || status === StepStatus.WAITING;
}

/** The events that a write consumed. */
export function consumedBy({ consumed }: Changes, { events }: Pick<Case, 'events'>): Array<InboxEvent['kind']> {
  return consumed.flatMap((id) => events.get(id)?.kind ?? []);
}

/** The steps that a write changed; those that it removed are left out. */
export function* writtenSteps({ steps }: Changes): Iterable<readonly [string, StepState]> {
  for (const [id, state] of steps) if (state) yield [id, state];
}
