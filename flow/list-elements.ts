// The list that a step goes through. It is computed from fields that don't change while the step is under way, and looked at for
// every branch: the memo lives as long as the run is in memory, so that n branches don't cost n times the list.

import { type CelValue, isCelList, isCelMap } from '@bufbuild/cel';
import { flowLimits } from './definition/limits.ts';
import type { Draft } from './draft.ts';
import type { ForEachAction } from './plan.ts';
import { evaluate } from './steps/condition.ts';

export type Elements =
  | { readonly kind: 'list'; readonly items: readonly CelValue[] }
  | { readonly kind: 'error'; readonly message: string };

const memos = new WeakMap<object, Map<string, Elements>>();

export function elementsOf(draft: Draft, step: string, action: ForEachAction): Elements {
  const memo = memos.get(draft.memoKey) ?? new Map<string, Elements>();
  memos.set(draft.memoKey, memo);
  const key = `${draft.plan.version}/${step}/${draft.step(step)?.round ?? 1}`;
  const known = memo.get(key);
  if (known) return known;
  const elements = computed(draft, action);
  memo.set(key, elements);
  return elements;
}

function computed(draft: Draft, action: ForEachAction): Elements {
  const result = evaluate(draft, action.over);
  if (result.kind === 'error') return result;
  const { path } = action.over;
  if (!isCelList(result.value))
    return { kind: 'error', message: `${path}: a list is needed, found ${described(result.value)}` };
  const { size } = result.value;
  if (size <= flowLimits.maxBranches) return { kind: 'list', items: [...result.value] };
  return {
    kind: 'error',
    message: `${path}: the list has ${size} elements, at most ${flowLimits.maxBranches} are allowed`,
  };
}

function described(value: unknown): string {
  if (value === null) return 'null';
  if (isCelMap(value)) return 'an object';
  return typeof value === 'bigint' || typeof value === 'number' ? 'a number' : `a ${typeof value}`;
}
