// A flow as the rules see it, built once for all of them.

import type { Call, FieldType, Flow, Step, SubFlow } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { type FlowGraph, flowGraph } from '../../graph.ts';
import { isAddress } from '../address.ts';
import { childPath, type Report } from '../problem.ts';

export interface FlowView {
  readonly flow: Flow;
  readonly graph: FlowGraph;
  /** Of the declared fields. */
  readonly types: ReadonlyMap<string, FieldType>;
  readonly calls: readonly PlacedCall[];
  /** Steps and branches that run another flow. */
  readonly subFlows: readonly { readonly subFlow: SubFlow; readonly path: string }[];
  /** Whatever names fields that it sends or receives. */
  readonly exchanges: readonly Exchange[];
}

export interface PlacedCall {
  readonly call: Call;
  /** Of the step or exit call. */
  readonly path: string;
  /** Under which the module stands there. */
  readonly key: 'call' | 'callback' | 'url';
  readonly takesAddress: boolean;
  readonly isExit: boolean;
}

export interface Exchange {
  readonly path: string;
  readonly send: readonly string[];
  readonly receive: readonly string[];
}

/** One group of rules. */
export type RuleGroup = (view: FlowView, report: Report) => void;

export function flowView(flow: Flow): FlowView {
  const calls = [
    ...flow.steps.flatMap(callsOf),
    ...flow.onExit.flatMap(({ call }, index): PlacedCall[] => {
      if (!call) return [];
      const key = isAddress(call.module) ? 'url' : 'call';
      return [{ call, path: `on_exit[${index}]`, key, takesAddress: true, isExit: true }];
    }),
  ];
  const subFlows = flow.steps.flatMap((step) => {
    const subFlow = subFlowOf(step);
    return subFlow ? [{ subFlow, path: stepPath(step.id) }] : [];
  });
  return {
    flow,
    graph: flowGraph(flow),
    types: new Map(flow.fields.map(({ name, type }) => [name, type])),
    calls,
    subFlows,
    exchanges: [
      ...calls.map(({ call, path }) => ({ path, send: call.send, receive: call.receive })),
      ...subFlows.map(({ subFlow, path }) => ({ path, send: subFlow.send, receive: subFlow.receive })),
      ...flow.steps.flatMap(otherExchangesOf),
    ],
  };
}

function callsOf({ id, kind }: Step): PlacedCall[] {
  const path = stepPath(id);
  const placed = (call: Call | undefined, key: 'call' | 'callback'): PlacedCall[] =>
    call ? [{ call, path, key, takesAddress: key === 'callback', isExit: false }] : [];
  switch (kind.case) {
    case 'call':
      return placed(kind.value, 'call');
    case 'callback':
      return placed(kind.value.call, 'callback');
    case 'forEach':
      return kind.value.branch.case === 'call' ? placed(kind.value.branch.value, 'call') : [];
    default:
      return [];
  }
}

/** The flow that a step or its branches run and wait for. */
export function subFlowOf({ kind }: Step): SubFlow | undefined {
  if (kind.case === 'subFlow') return kind.value;
  return kind.case === 'forEach' && kind.value.branch.case === 'subFlow' ? kind.value.branch.value : undefined;
}

function otherExchangesOf({ id, kind }: Step): Exchange[] {
  if (kind.case === 'startFlow') return [{ path: stepPath(id), send: kind.value.send, receive: [] }];
  if (kind.case !== 'wait' || kind.value.what.case !== 'signal') return [];
  return [{ path: `${stepPath(id)}.wait`, send: [], receive: kind.value.what.value.receive }];
}

export function stepPath(id: string): string {
  return childPath('steps', id);
}

export function fieldPath(name: string): string {
  return childPath('fields', name);
}
