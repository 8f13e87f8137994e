// Expressions of steps, evaluated over the fields that the step sees.

import { Reason } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import type { ExpressionResult } from '../expression.ts';
import { decodeTyped } from '../field-type.ts';
import type { Condition, PlanStep } from '../plan.ts';

/** A step's `when`. One that can't be evaluated fails the step. */
export function holds(draft: Draft, step: PlanStep): boolean {
  if (!step.when) return true;
  const result = evaluateBoolean(draft, step.when);
  if (result.kind === 'error') draft.fail(step.id, Reason.INPUT, result.message);
  return result.kind === 'value' && result.value;
}

export type BooleanResult =
  | { readonly kind: 'value'; readonly value: boolean }
  | { readonly kind: 'error'; readonly message: string };

export function evaluateBoolean(draft: Draft, condition: Condition): BooleanResult {
  const result = evaluate(draft, condition);
  if (result.kind === 'error') return result;
  if (typeof result.value === 'boolean') return { kind: 'value', value: result.value };
  return {
    kind: 'error',
    message: `${condition.path}: expected true or false, found a value of type ${typeof result.value}`,
  };
}

export function evaluate(draft: Draft, condition: Condition): ExpressionResult {
  // Without a prototype: a field may have any name, and names that nobody declared must find nothing.
  const values = Object.create(null) as Record<string, unknown>;
  for (const reading of condition.reads) {
    const value = draft.read(reading);
    if (!value) return failed(condition, `field ${reading.name} is absent and has no default`);
    if (value.reference)
      return failed(condition, `field ${reading.name} is kept elsewhere and can't be read by an expression`);
    if (!reading.declared) throw new Error(`invariant: ${condition.path} reads undeclared field ${reading.name}`);
    const decoded = decodeTyped(reading.declared.type, value.bytes);
    if (decoded.kind === 'error') return failed(condition, `field ${reading.name} ${decoded.message}`);
    values[reading.name] = decoded.value;
  }
  const result = condition.expression.evaluate(values);
  return result.kind === 'error' ? failed(condition, result.message) : result;
}

function failed(condition: Condition, message: string): ExpressionResult {
  return { kind: 'error', message: `${condition.path}: ${message}` };
}
