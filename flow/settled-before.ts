// Which steps are settled for certain before another one begins. A step waits for all its predecessors, but a join that needs only
// some of them goes on before the others: behind it, only what leads to each of them is certain.

import type { Step } from '../proto/gen/weir/flow/v1/flow_pb.js';
import type { FlowGraph } from './graph.ts';

/** Whether `earlier` is settled whenever `later` begins. */
export type SettledBefore = (earlier: string, later: string) => boolean;

/** Whether a step may go on before all its predecessors are settled. */
function goesOnEarly({ kind, after }: Step): boolean {
  return kind.case === 'join' && kind.value.need > 0 && kind.value.need < after.length;
}

/** One row of bits per step, one bit per step before it. */
export function settledBefore(graph: FlowGraph): SettledBefore {
  // Without such a join it is the order of the graph itself.
  if (![...graph.byId.values()].some(goesOnEarly)) {
    return (earlier, later) => graph.isBefore(earlier, later);
  }
  const words = Math.ceil(graph.order.length / 32);
  const places = new Map(graph.order.map((id, place) => [id, place]));
  const rows: Uint32Array[] = [];
  const withItself = (id: string): Uint32Array => {
    const place = places.get(id) ?? 0;
    const row = rows[place]?.slice() ?? new Uint32Array(words);
    row[place >> 5] = (row[place >> 5] ?? 0) | (1 << (place & 31));
    return row;
  };
  for (const id of graph.order) {
    const step = graph.byId.get(id);
    const isEarly = step !== undefined && goesOnEarly(step);
    const awaited = isEarly ? (graph.choosers.get(id) ?? []) : [...(graph.predecessors.get(id) ?? [])];
    const row = awaited.map(withItself).reduce(either, new Uint32Array(words));
    rows.push(isEarly ? either(row, step.after.map(withItself).reduce(both)) : row);
  }
  return (earlier, later) => {
    const place = places.get(earlier);
    const row = rows[places.get(later) ?? -1];
    return place !== undefined && row !== undefined && ((row[place >> 5] ?? 0) & (1 << (place & 31))) !== 0;
  };
}

function either(one: Uint32Array, other: Uint32Array): Uint32Array {
  return one.map((bits, word) => bits | (other[word] ?? 0));
}

function both(one: Uint32Array, other: Uint32Array): Uint32Array {
  return one.map((bits, word) => bits & (other[word] ?? 0));
}
