// Makes a validated flow ready to run: see plan.ts. Once per version, never per run.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import type { Flow, Step } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { type Compiler, callAction, compileAction, condition, type JoinSteps, reading } from './compile-action.ts';
import { type FlowGraph, flowGraph, writtenBy } from './graph.ts';
import { branchesOf } from './join-branches.ts';
import type { Action, DeclaredField, Plan, PlanExitCall, PlanStep, SignalWait } from './plan.ts';
import { type SettledBefore, settledBefore } from './settled-before.ts';

/**
 * Compiles a flow that `parseFlow` or `validateFlow` accepted into the plan of `version`. Throws when it finds what
 * validation refuses: a flow is stored after it was accepted, so that is a bug.
 */
export function compileFlow(flow: Flow, version: number): Plan {
  const graph = flowGraph(flow);
  if (graph.order.length !== flow.steps.length) throw new Error(`flow ${flow.name}: a ring, or one id twice`);
  const fields = declaredFields(flow);
  const types = new Map([...fields.values()].map((field) => [field.name, field.type]));
  const isSettledBefore = settledBefore(graph);
  const joins = joinsOf(graph, isSettledBefore);
  const compiler: Compiler = { graph, fields, types, writers: writersOf(graph), joins, isSettledBefore };
  const actions = new Map(graph.order.map((id) => [id, compileAction(compiler, stepOf(graph, id))]));
  const steps = [...actions].map(([id, action]) => planStep(compiler, stepOf(graph, id), action));
  return {
    name: flow.name,
    business: flow.business,
    version,
    deadlineMs: Number(flow.deadlineMs),
    steps,
    byId: new Map(steps.map((step) => [step.id, step])),
    fields,
    exitCalls: flow.onExit.map((exit, index): PlanExitCall => {
      if (!exit.call) throw new Error(`flow ${flow.name}: on_exit[${index}] has no call`);
      return { id: `exit/${index}`, when: new Set(exit.when), action: callAction(compiler, exit.call, undefined) };
    }),
    signals: new Map(
      [...actions.values()].flatMap((action) => {
        const signal = signalOf(action);
        return signal ? [[signal.name, signal]] : [];
      }),
    ),
    atEnd: (name) => reading(compiler, name, undefined),
  };
}

function declaredFields(flow: Flow): ReadonlyMap<string, DeclaredField> {
  return new Map(
    flow.fields.map(({ name, type, default: text }): [string, DeclaredField] => [
      name,
      text === undefined ? { name, type } : { name, type, default: { bytes: getTextEncoding().encodeUtf8(text) } },
    ]),
  );
}

function writersOf(graph: FlowGraph): ReadonlyMap<string, readonly string[]> {
  const writers = new Map<string, string[]>();
  for (const id of graph.order.toReversed()) {
    for (const field of writtenBy(stepOf(graph, id))) {
      const earlier = writers.get(field);
      if (earlier) earlier.push(id);
      else writers.set(field, [id]);
    }
  }
  return writers;
}

function stepOf(graph: FlowGraph, id: string): Step {
  const step = graph.byId.get(id);
  if (!step) throw new Error(`no step ${id}`);
  return step;
}

/** Joins that may do without some of their branches, in topological order. */
function joinsOf(graph: FlowGraph, isSettledBefore: SettledBefore): JoinSteps[] {
  return graph.order.flatMap((id) => {
    const { kind } = stepOf(graph, id);
    if (kind.case !== 'join' || kind.value.need === 0) return [];
    const unawaited = graph.order.filter((each) => graph.isBefore(each, id) && !isSettledBefore(each, id));
    return [{ id, branches: branchesOf(graph, id), unawaited: new Set(unawaited) }];
  });
}

function signalOf(action: Action): SignalWait | undefined {
  return action.kind === 'wait' && action.what.kind === 'signal' ? action.what : undefined;
}

function planStep(compiler: Compiler, step: Step, action: Action): PlanStep {
  const { graph, joins } = compiler;
  const join = joins.find(({ branches }) => branches.has(step.id))?.id;
  return {
    id: step.id,
    after: step.after,
    choosers: graph.choosers.get(step.id) ?? [],
    successors: graph.successors.get(step.id) ?? [],
    ...(step.when !== '' && { when: condition(compiler, step, `steps.${step.id}.when`, step.when, FieldType.BOOL) }),
    ...(join !== undefined && { join }),
    action,
  };
}
