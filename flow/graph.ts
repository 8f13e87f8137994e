// The graph of a flow: who must be settled before whom. Edges are `after` and the choices of switches. References to steps
// that don't exist are left out; validation names them.

import type { Flow, Step } from '../proto/gen/weir/flow/v1/flow_pb.js';

export interface FlowGraph {
  readonly byId: ReadonlyMap<string, Step>;
  /** Switches that may choose a step. */
  readonly choosers: ReadonlyMap<string, readonly string[]>;
  /** Steps that a step waits for: its `after`, and the switches that may choose it. */
  readonly predecessors: ReadonlyMap<string, ReadonlySet<string>>;
  /** Steps that consider a step, each once, in the order of the flow. */
  readonly successors: ReadonlyMap<string, readonly string[]>;
  /** Every step after all that it waits for, in the order of the flow where that leaves a choice. Steps on or behind a ring are missing. */
  readonly order: readonly string[];
  /** Whether `earlier` is settled before `later` begins: a path leads from one to the other. */
  isBefore(earlier: string, later: string): boolean;
}

/** The steps that a step may choose: none unless it is a switch. */
function choicesOf(step: Step): readonly string[] {
  if (step.kind.case !== 'switch') return [];
  return [...step.kind.value.cases.flatMap((each) => each.then), ...step.kind.value.otherwise];
}

export function flowGraph(flow: Flow): FlowGraph {
  const byId = new Map(flow.steps.map((step) => [step.id, step]));
  const choosers = new Map<string, Set<string>>();
  const successors = new Map<string, Set<string>>();
  const predecessors = new Map<string, Set<string>>();
  for (const step of byId.values()) {
    for (const earlier of step.after) {
      if (!byId.has(earlier)) continue;
      addTo(successors, earlier, step.id);
      addTo(predecessors, step.id, earlier);
    }
    for (const chosen of choicesOf(step)) {
      if (!byId.has(chosen)) continue;
      addTo(choosers, chosen, step.id);
      addTo(successors, step.id, chosen);
      addTo(predecessors, chosen, step.id);
    }
  }
  const places = new Map([...byId.keys()].map((id, place) => [id, place]));
  const inFlowOrder = (ids: Set<string> = new Set()): string[] =>
    [...ids].sort((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
  const sorted = new Map([...byId.keys()].map((id) => [id, inFlowOrder(successors.get(id))]));
  const order = topologicalOrder([...byId.keys()], sorted, predecessors);
  return {
    byId,
    choosers: new Map([...byId.keys()].map((id) => [id, inFlowOrder(choosers.get(id))])),
    predecessors,
    successors: sorted,
    order,
    isBefore: reachability(order, predecessors),
  };
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

/** Orders the steps `ids` among themselves; those on a ring, or behind one, are left out. */
export function topologicalOrder(
  ids: readonly string[],
  successors: FlowGraph['successors'],
  predecessors: FlowGraph['predecessors'],
): string[] {
  const among = new Set(ids);
  const waitingFor = new Map(
    ids.map((id) => [id, [...(predecessors.get(id) ?? [])].filter((earlier) => among.has(earlier)).length]),
  );
  const order = ids.filter((id) => waitingFor.get(id) === 0);
  // The list grows while it is walked: what is behind the walk is settled.
  for (const id of order) {
    for (const next of successors.get(id) ?? []) {
      if (!among.has(next)) continue;
      const left = (waitingFor.get(next) ?? 0) - 1;
      waitingFor.set(next, left);
      if (left === 0) order.push(next);
    }
  }
  return order;
}

/** One row of bits per step, one bit per step before it: a thousand steps with a quarter million edges take milliseconds. */
function reachability(order: readonly string[], predecessors: FlowGraph['predecessors']): FlowGraph['isBefore'] {
  const words = Math.ceil(order.length / 32);
  const places = new Map(order.map((id, place) => [id, place]));
  const rows = order.map(() => new Uint32Array(words));
  order.forEach((id, place) => {
    const row = rows[place];
    for (const earlier of predecessors.get(id) ?? []) {
      const before = places.get(earlier) ?? 0;
      rows[before]?.forEach((bits, word) => {
        if (row) row[word] = (row[word] ?? 0) | bits;
      });
      if (row) row[before >> 5] = (row[before >> 5] ?? 0) | (1 << (before & 31));
    }
  });
  return (earlier, later) => {
    const before = places.get(earlier);
    const row = rows[places.get(later) ?? -1];
    return before !== undefined && row !== undefined && ((row[before >> 5] ?? 0) & (1 << (before & 31))) !== 0;
  };
}

/** Fields that a step writes: under their names, whatever the branches of a list write. */
export function writtenBy({ kind }: Step): readonly string[] {
  switch (kind.case) {
    case 'call':
    case 'subFlow':
      return kind.value.receive;
    case 'callback':
      return kind.value.call?.receive ?? [];
    case 'inline':
      return kind.value.set.map((assignment) => assignment.field);
    case 'wait':
      return kind.value.what.case === 'signal' ? kind.value.what.value.receive : [];
    case 'forEach':
      return [kind.value.into];
    case 'switch':
    case 'join':
    case 'startFlow':
    case undefined:
      return [];
  }
}
