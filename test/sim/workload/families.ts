// The flows of a world: those that items are submitted to, and those whose runs others start.

import type { Plan } from '../../../flow/plan.ts';
import type { Random } from '../world/random.ts';
import type { ChildFlow, FlowMaking } from './draft.ts';
import { madeUpPlan } from './flows.ts';

/** Versions that each flow has in the end. */
const versions = 3;
/** Worlds whose flows only call, choose and compute. */
const plainShare = 0.15;

const leaf: ChildFlow = { name: 'leaf', leaves: ['leaf_one', 'leaf_two', 'leaf_three', 'leaf_four'] };
const branch: ChildFlow = { name: 'branch', leaves: ['branch_one', 'branch_two', 'branch_three'] };

/** Flows by name. Business lines are crossed: a child belongs to its own. */
const flows: ReadonlyArray<Pick<FlowMaking, 'name' | 'business' | 'children' | 'starts' | 'leaves'>> = [
  { name: 'flow-a', business: 'shop', children: [leaf, leaf, branch], starts: [], leaves: [] },
  { name: 'flow-b', business: 'shop', children: [leaf], starts: ['flow-b', 'leaf', 'leaf'], leaves: [] },
  { name: 'flow-c', business: 'mail', children: [], starts: ['leaf'], leaves: [] },
  { ...branch, business: 'mail', children: [leaf], starts: [] },
  { ...leaf, business: 'shop', children: [], starts: [] },
];

/** Whether clients submit items to a flow. */
export function isSubmitted({ name }: Plan): boolean {
  return name !== leaf.name && name !== branch.name;
}

/** All versions of all flows. `maxLosses`: of the calls of a step how many may be lost, one of them for each step. */
export function madeUpPlans(random: Random, maxLosses: readonly number[]): ReadonlyMap<string, readonly Plan[]> {
  const isPlain = random.chance(plainShare);
  const plans = new Map<string, Plan[]>();
  for (const flow of flows) {
    const making = { ...flow, maxLosses, isPlain };
    const all = Array.from({ length: versions }, (_, index) => madeUpPlan(random, { ...making, version: index + 1 }));
    plans.set(flow.name, all);
  }
  return plans;
}
