// Makes a validated flow ready to run: see plan.ts. Once per version, never per run.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import type { Call, Flow, Step } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { compileExpression } from './expression.ts';
import { type FlowGraph, flowGraph, writtenBy } from './graph.ts';
import type {
  Action,
  CallAction,
  Condition,
  DeclaredField,
  Plan,
  PlanExitCall,
  PlanStep,
  Reading,
  SwitchAction,
} from './plan.ts';
import { fieldKey, inputWriter } from './run.ts';

/** What compiling one flow needs at every turn. */
interface Compiler {
  readonly graph: FlowGraph;
  readonly fields: ReadonlyMap<string, DeclaredField>;
  readonly types: ReadonlyMap<string, FieldType>;
  /** Writers of each field, the last one first. */
  readonly writers: ReadonlyMap<string, readonly string[]>;
}

/**
 * Compiles a flow that `parseFlow` or `validateFlow` accepted into the plan of `version`. Throws when it finds what
 * validation refuses: a flow is stored after it was accepted, so that is a bug.
 */
export function compileFlow(flow: Flow, version: number): Plan {
  const graph = flowGraph(flow);
  if (graph.order.length !== flow.steps.length) throw new Error(`flow ${flow.name}: a ring, or one id twice`);
  const fields = declaredFields(flow);
  const types = new Map([...fields.values()].map((field) => [field.name, field.type]));
  const compiler: Compiler = { graph, fields, types, writers: writersOf(graph) };
  const steps = graph.order.map((id) => planStep(compiler, stepOf(graph, id)));
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

function planStep(compiler: Compiler, step: Step): PlanStep {
  const { graph } = compiler;
  return {
    id: step.id,
    after: step.after,
    choosers: graph.choosers.get(step.id) ?? [],
    successors: graph.successors.get(step.id) ?? [],
    ...(step.when !== '' && { when: condition(compiler, step, `steps.${step.id}.when`, step.when, FieldType.BOOL) }),
    action: action(compiler, step),
  };
}

function action(compiler: Compiler, step: Step): Action {
  switch (step.kind.case) {
    case 'call':
      return callAction(compiler, step.kind.value, step.id);
    case 'switch':
      return switchAction(compiler, step, step.kind.value);
    case 'inline':
      return {
        kind: 'inline',
        set: step.kind.value.set.map(({ field, expression }) => {
          const declared = compiler.fields.get(field);
          if (!declared) throw new Error(`step ${step.id} sets ${field}, which is not declared`);
          const path = `steps.${step.id}.inline.${field}`;
          return { field: declared, value: condition(compiler, step, path, expression, declared.type) };
        }),
      };
    case undefined:
      throw new Error(`step ${step.id} has no kind that this engine knows`);
  }
}

/** `reader` is absent for exit calls, which see the last writer of each field. */
function callAction(compiler: Compiler, call: Call, reader: string | undefined): CallAction {
  if (!call.retry) throw new Error(`the call of ${call.module} has no retry policy`);
  return {
    kind: 'call',
    module: call.module,
    send: call.send.map((name) => reading(compiler, name, reader)),
    receive: new Set(call.receive),
    timeoutMs: Number(call.timeoutMs),
    tries: call.retry.tries,
    firstBackoffMs: Number(call.retry.firstMs),
    maxBackoffMs: Number(call.retry.maxMs),
    maxLosses: call.maxLosses,
  };
}

function switchAction(
  compiler: Compiler,
  step: Step,
  choice: Extract<Step['kind'], { case: 'switch' }>['value'],
): SwitchAction {
  return {
    kind: 'switch',
    cases: choice.cases.map(({ when, then }, index) => ({
      when: condition(compiler, step, `steps.${step.id}.switch[${index}].when`, when, FieldType.BOOL),
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of flows; nothing awaits a case.
      then,
    })),
    otherwise: choice.otherwise,
    noMatch: choice.noMatch,
  };
}

function condition(compiler: Compiler, step: Step, path: string, source: string, wanted: FieldType): Condition {
  const compiled = compileExpression(source, compiler.types, wanted);
  if (compiled.kind === 'invalid') throw new Error(`${path}: ${compiled.message}`);
  const { expression } = compiled;
  return { expression, path, reads: expression.fields.map((name) => reading(compiler, name, step.id)) };
}

function reading(compiler: Compiler, name: string, reader: string | undefined): Reading {
  const writers = compiler.writers.get(name) ?? [];
  const before = reader === undefined ? writers : writers.filter((writer) => compiler.graph.isBefore(writer, reader));
  const declared = compiler.fields.get(name);
  return {
    name,
    keys: [...before, inputWriter].map((writer) => fieldKey(writer, name)),
    ...(declared && { declared }),
  };
}
