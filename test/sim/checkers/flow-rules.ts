// What a flow says of its steps, given what is settled of them: an interpreter of plans for the checkers, apart from the engine's.

import { decodeTyped } from '../../../flow/field-type.ts';
import type { Condition, Plan, PlanStep, Reading, SwitchAction } from '../../../flow/plan.ts';
import type { FieldValue } from '../../../flow/run.ts';
import { NoMatch } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { RunView } from './checker.ts';

/** `fail`: its condition can't be evaluated. */
export type Due = 'wait' | 'skip' | 'begin' | 'fail';

type Settled = Pick<RunView, 'steps' | 'fields'>;

/** What has to become of a step now. */
export function dueOf(plan: Plan, run: Settled, step: PlanStep): Due {
  const choosers = plan.steps.filter(({ action }) => action.kind === 'switch' && mayChoose(action, step.id));
  const before = [...step.after, ...choosers.map(({ id }) => id)].map((id) => run.steps.get(id));
  if (!before.every((state) => state?.status === StepStatus.DONE || state?.status === StepStatus.SKIPPED))
    return 'wait';
  const isWanted =
    choosers.length > 0
      ? choosers.some(({ id }) => run.steps.get(id)?.chosen.includes(step.id))
      : step.after.length === 0 || before.some((state) => state?.status === StepStatus.DONE);
  if (!isWanted) return 'skip';
  if (!step.when) return 'begin';
  const holds = valueOf(step.when, run);
  return holds === undefined ? 'fail' : holds === true ? 'begin' : 'skip';
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

/** A field as a step reads it. */
export function read({ fields }: Pick<RunView, 'fields'>, { keys, declared }: Reading): FieldValue | undefined {
  for (const key of keys) {
    const value = fields.get(key);
    if (value) return value;
  }
  return declared?.default;
}

/** Undefined when it can't be evaluated. */
function valueOf({ expression, reads }: Condition, run: Settled): unknown {
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
