// Steps that wait for one another can never begin. A flow without a first step is one of these: whoever follows its edges
// backwards comes to a ring.

import { topologicalOrder } from '../../graph.ts';
import { flowLimits } from '../limits.ts';
import { type FlowView, type RuleGroup, stepPath } from './view.ts';

export const rings: RuleGroup = ({ flow, graph, subFlows }, report) => {
  for (const { subFlow, path } of subFlows) {
    if (subFlow.flow !== flow.name) continue;
    report('graph.ring', `${path}.sub_flow`, `a flow cannot wait for itself: ${flow.name} -> ${flow.name}`);
  }
  let rest = [...graph.byId.keys()];
  for (let found = 0; found < flowLimits.maxProblems; found++) {
    const ordered = new Set(topologicalOrder(rest, graph.successors, graph.predecessors));
    rest = rest.filter((id) => !ordered.has(id));
    const ring = ringIn(rest, graph);
    const [first] = ring;
    if (first === undefined) return;
    const drawn = [...ring, first].join(' -> ');
    report('graph.ring', stepPath(first), `a step cannot wait for itself: ${drawn}`);
    // Without the steps of this ring, the next round finds the next one.
    const inRing = new Set(ring);
    rest = rest.filter((id) => !inRing.has(id));
  }
};

/** A ring among steps that each have a predecessor among them, in the direction of the flow, beginning with the first in the flow. */
function ringIn(ids: readonly string[], { predecessors }: FlowView['graph']): string[] {
  const among = new Set(ids);
  const walked = new Map<string, number>();
  const walk: string[] = [];
  let id = ids[0];
  while (id !== undefined && !walked.has(id)) {
    walked.set(id, walk.length);
    walk.push(id);
    id = [...(predecessors.get(id) ?? [])].find((earlier) => among.has(earlier));
  }
  const ring = id === undefined ? [] : walk.slice(walked.get(id)).toReversed();
  const inRing = new Set(ring);
  const start = ring.indexOf(ids.find((each) => inRing.has(each)) ?? '');
  return [...ring.slice(start), ...ring.slice(0, start)];
}
