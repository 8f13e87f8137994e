// A flow as the rules see it, built once for all of them.

import type { Call, FieldType, Flow } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { type FlowGraph, flowGraph } from '../../graph.ts';
import { childPath, type Report } from '../problem.ts';

export interface FlowView {
  readonly flow: Flow;
  readonly graph: FlowGraph;
  /** Of the declared fields. */
  readonly types: ReadonlyMap<string, FieldType>;
  /** Calls of steps and exit calls, with their paths. */
  readonly calls: readonly { readonly call: Call; readonly path: string; readonly isExit: boolean }[];
}

/** One group of rules. */
export type RuleGroup = (view: FlowView, report: Report) => void;

export function flowView(flow: Flow): FlowView {
  const stepCalls = flow.steps.flatMap((step) =>
    step.kind.case === 'call' ? [{ call: step.kind.value, path: stepPath(step.id), isExit: false }] : [],
  );
  const exitCalls = flow.onExit.flatMap(({ call }, index) =>
    call ? [{ call, path: `on_exit[${index}]`, isExit: true }] : [],
  );
  return {
    flow,
    graph: flowGraph(flow),
    types: new Map(flow.fields.map(({ name, type }) => [name, type])),
    calls: [...stepCalls, ...exitCalls],
  };
}

export function stepPath(id: string): string {
  return childPath('steps', id);
}

export function fieldPath(name: string): string {
  return childPath('fields', name);
}
