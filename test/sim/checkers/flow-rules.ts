// What a flow says of its steps, given what is settled of them: an interpreter of plans for the checkers, apart from the engine's.

import { decodeTyped } from '../../../flow/field-type.ts';
import type { Condition, JoinAction, Plan, PlanStep, Reading, SwitchAction } from '../../../flow/plan.ts';
import type { FieldValue, StepState } from '../../../flow/run.ts';
import { NoMatch } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { Reason, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { isSettled, type RunView } from './checker.ts';

/**
 * `dead`: it is behind a step that failed or was stopped. `too few`: a join that can't get what it needs. `fail`: its condition
 * can't be evaluated.
 */
export type Due = 'wait' | 'skip' | 'dead' | 'begin' | 'too few' | 'fail';

type Settled = Pick<RunView, 'steps' | 'fields'>;

/** What has to become of a step now. */
export function dueOf(plan: Plan, run: Settled, step: PlanStep): Due {
  const due = reachOf(plan, run, step);
  if ((due !== 'begin' && due !== 'too few') || !step.when) return due;
  const holds = valueOf(step.when, run);
  if (holds === undefined) return 'fail';
  return holds === true ? due : 'skip';
}

function reachOf(plan: Plan, run: Settled, step: PlanStep): Due {
  const statesOf = (ids: readonly string[]) => ids.map((id) => run.steps.get(id));
  const before = statesOf(step.after);
  const due =
    step.action.kind === 'join' && step.action.need > 0 ? joinDue(before, step.action.need) : plainDue(before);
  const choosers = plan.steps.filter(({ action }) => action.kind === 'switch' && mayChoose(action, step.id));
  if (choosers.length === 0 || due === 'wait' || due === 'dead') return due;
  const chosenBy = statesOf(choosers.map(({ id }) => id));
  if (!chosenBy.every((state) => isSettled(state?.status))) return 'wait';
  if (chosenBy.some((state) => isDone(state) && state?.chosen.includes(step.id)))
    return due === 'too few' ? due : 'begin';
  return chosenBy.some(isDead) ? 'dead' : 'skip';
}

function plainDue(before: ReadonlyArray<StepState | undefined>): Due {
  if (!before.every((state) => isSettled(state?.status))) return 'wait';
  if (before.some(isDead)) return 'dead';
  return before.length === 0 || before.some(isDone) ? 'begin' : 'skip';
}

/** Of those that were not skipped so many have to be done, or all of them where they are fewer. */
function joinDue(before: ReadonlyArray<StepState | undefined>, need: number): Due {
  const done = before.filter(isDone).length;
  const dead = before.filter(isDead).length;
  const open = before.filter((state) => !isSettled(state?.status)).length;
  if (done >= need) return 'begin';
  if (dead > 0 && done + open < need) return 'too few';
  if (open > 0) return 'wait';
  return done > 0 ? 'begin' : 'skip';
}

function isDone(state: StepState | undefined): boolean {
  return state?.status === StepStatus.DONE;
}

/** Failed, stopped, or behind such a step; not one that was not taken. */
function isDead(state: StepState | undefined): boolean {
  if (!state || !isSettled(state.status) || isDone(state)) return false;
  return state.status !== StepStatus.SKIPPED || state.reason !== Reason.UNSPECIFIED;
}

/** Whether the run may go on without a step that failed: a join before its end needs not all, and has not failed for it. */
export function isDispensable(plan: Plan, run: Pick<RunView, 'steps'>, { join }: PlanStep): boolean {
  const behind = join === undefined ? undefined : plan.byId.get(join);
  if (!behind) return false;
  return run.steps.get(behind.id)?.status !== StepStatus.FAILED || isDispensable(plan, run, behind);
}

/** Whether a join that has gone on stops this step. */
export function isLoser(plan: Plan, run: Pick<RunView, 'steps'>, id: string): boolean {
  return joinsDone(plan, run, id).some(({ cancels }) => cancels);
}

/** Whether a join that this step serves alone has gone on. */
export function isDoneWithout(plan: Plan, run: Pick<RunView, 'steps'>, id: string): boolean {
  return joinsDone(plan, run, id).length > 0;
}

function joinsDone(plan: Plan, run: Pick<RunView, 'steps'>, id: string): JoinAction[] {
  return plan.steps.flatMap(({ id: join, action }) => {
    const isJoin = action.kind === 'join' && action.branches.has(id);
    return isJoin && run.steps.get(join)?.status === StepStatus.DONE ? [action] : [];
  });
}

/**
 * What is wrong with what a join says of the steps it did not wait for: all that were done when it went on, and none that wasn't.
 * One write may carry more than that moment: between `before` and `after` it must lie.
 */
export function wrongChoice(
  { unawaited }: JoinAction,
  state: StepState,
  before: Pick<RunView, 'steps'> | undefined,
  after: Pick<RunView, 'steps'>,
): string | undefined {
  for (const id of unawaited) {
    const [was, is] = [before?.steps.get(id), after.steps.get(id)];
    const isKept = state.chosen.includes(id);
    if (isKept && !isDone(is)) return `counts on ${id}, which isn't done`;
    if (!isKept && isDone(was) && isDone(is) && was?.round === is?.round) return `forgets ${id}, which was done`;
  }
  return undefined;
}

/** What a switch has to choose; undefined when it has to fail. */
export function choiceOf(action: SwitchAction, run: Settled): readonly string[] | undefined {
  for (const { when, then } of action.cases) {
    const holds = valueOf(when, run);
    if (holds === undefined) return undefined;
    if (holds === true) return then;
  }
  if (action.noMatch === NoMatch.OTHERWISE) return action.otherwise;
  return action.noMatch === NoMatch.PASS ? [] : undefined;
}

/** A field as a step reads it: behind a join that didn't wait for its writer only what was there when the join went on. */
export function read(
  { steps, fields }: Settled,
  { keys, late, declared }: Pick<Reading, 'keys' | 'late' | 'declared'>,
): FieldValue | undefined {
  for (const key of keys) {
    const value = fields.get(key);
    const between = late.get(key);
    const isSeen = !between || between.joins.some((join) => steps.get(join)?.chosen.includes(between.writer));
    if (value && isSeen) return value;
  }
  return declared?.default;
}

/** Undefined when it can't be evaluated. */
export function valueOf({ expression, reads }: Condition, run: Settled): unknown {
  const values = Object.create(null) as Record<string, unknown>;
  for (const reading of reads) {
    const value = read(run, reading);
    const decoded = value && reading.declared && decodeTyped(reading.declared.type, value.bytes);
    if (decoded?.kind !== 'value') return undefined;
    values[reading.name] = decoded.value;
  }
  const result = expression.evaluate(values);
  return result.kind === 'value' ? result.value : undefined;
}

function mayChoose({ cases, otherwise }: SwitchAction, step: string): boolean {
  return otherwise.includes(step) || cases.some(({ then }) => then.includes(step));
}
