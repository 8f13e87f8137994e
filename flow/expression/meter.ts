// How much work an evaluation may still do. CEL has no loops, but comprehensions over long lists multiply and texts can be
// long: without a bound an expression could hold up a dispatch for minutes.
//
// Ownership: `withBudget` opens an evaluation; the functions of functions.ts, which instrument.ts writes into the
// expression, spend from it. Both run in one synchronous call, so the remainder can stand here.
//
// Invariants:
//   M1  Evaluations don't nest: an expression cannot start another one.
//   M2  Work is spent before it is done, or at most one operation later.

import { type CelValue, isCelList, isCelMap } from '@bufbuild/cel';
import { expressionLimits } from './limits.ts';

let remaining = 0;
let open = false;

/** Weights of lists and maps, which are walked once only. */
const weights = new WeakMap<object, number>();

/** Runs one evaluation under a fresh budget. */
export function withBudget<Result>(evaluate: () => Result): Result {
  if (open) throw new Error('M1: an evaluation within an evaluation');
  open = true;
  remaining = expressionLimits.maxWork;
  try {
    return evaluate();
  } finally {
    open = false;
  }
}

/** Takes `work` from the budget; throws when it is spent. The expression library turns what is thrown into a CEL error. */
export function spend(work: number): void {
  remaining -= work;
  if (remaining < 0) throw new Error(`the expression takes more than ${expressionLimits.maxWork} units of work`);
}

/** What it costs to look at the whole of a value. */
export function weightOf(value: CelValue): number {
  if (typeof value === 'string') return 1 + (value.length >> 4);
  if (isCelList(value)) return weightOfAll(value, value);
  if (isCelMap(value)) return weightOfAll(value, value.values());
  return 1;
}

function weightOfAll(owner: object, parts: Iterable<CelValue>): number {
  const known = weights.get(owner);
  if (known !== undefined) return known;
  let weight = 1;
  for (const part of parts) weight += weightOf(part);
  weights.set(owner, weight);
  return weight;
}
