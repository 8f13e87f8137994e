// Which steps serve one join only: those from which every way leads to it. When the join doesn't need them any more, nobody does.
// In the order of the flow's graph.

import type { FlowGraph } from './graph.ts';

export function branchesOf(graph: FlowGraph, join: string): ReadonlySet<string> {
  const branches = new Set<string>();
  // From the join backwards: whoever comes after a step has been looked at before it.
  for (const id of graph.order.toReversed()) {
    const successors = graph.successors.get(id) ?? [];
    if (successors.length === 0 || id === join) continue;
    if (successors.every((next) => next === join || branches.has(next))) branches.add(id);
  }
  return new Set([...branches].toReversed());
}
