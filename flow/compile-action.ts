// What a step does, made ready to run: one function for each kind.

import {
  type Call,
  FieldType,
  type ForEach,
  type Join,
  Losers,
  type Step,
  type SubFlow,
  type Switch,
  type Wait,
} from '../proto/gen/weir/flow/v1/flow_pb.js';
import { compileExpression } from './expression.ts';
import type { FlowGraph } from './graph.ts';
import type {
  Action,
  CallAction,
  Condition,
  DeclaredField,
  ForEachAction,
  JoinAction,
  JoinsBetween,
  Reading,
  SubFlowAction,
  SwitchAction,
  WaitAction,
} from './plan.ts';
import { fieldKey, inputWriter } from './run.ts';
import type { SettledBefore } from './settled-before.ts';

/** What compiling one flow needs at every turn. */
export interface Compiler {
  readonly graph: FlowGraph;
  readonly fields: ReadonlyMap<string, DeclaredField>;
  readonly types: ReadonlyMap<string, FieldType>;
  /** Writers of each field, the last one first. */
  readonly writers: ReadonlyMap<string, readonly string[]>;
  /** Joins that may do without some of their branches, in topological order. */
  readonly joins: readonly JoinSteps[];
  readonly isSettledBefore: SettledBefore;
}

export interface JoinSteps {
  readonly id: string;
  readonly branches: ReadonlySet<string>;
  readonly unawaited: ReadonlySet<string>;
}

export function compileAction(compiler: Compiler, step: Step): Action {
  const { kind } = step;
  switch (kind.case) {
    case 'call':
      return callAction(compiler, kind.value, step.id);
    case 'switch':
      return switchAction(compiler, step, kind.value);
    case 'inline':
      return {
        kind: 'inline',
        set: kind.value.set.map(({ field, expression }) => {
          const declared = declaredField(compiler, step, field);
          const path = `steps.${step.id}.inline.${field}`;
          return { field: declared, value: condition(compiler, step, path, expression, declared.type) };
        }),
      };
    case 'join':
      return joinAction(compiler, step, kind.value);
    case 'wait':
      return waitAction(compiler, step, kind.value);
    case 'callback': {
      if (!kind.value.call) throw new Error(`callback ${step.id} has no call`);
      const call = callAction(compiler, kind.value.call, step.id);
      return { kind: 'callback', call, answerWithinMs: Number(kind.value.answerWithinMs) };
    }
    case 'subFlow':
      return subFlowAction(compiler, step, kind.value);
    case 'startFlow': {
      const { flow, send, maxGenerations } = kind.value;
      return { kind: 'start_flow', flow, send: readings(compiler, send, step.id), maxChain: maxGenerations };
    }
    case 'forEach':
      return forEachAction(compiler, step, kind.value);
    case undefined:
      throw new Error(`step ${step.id} has no kind that this engine knows`);
  }
}

/** `reader` is absent for exit calls, which see the last writer of each field. */
export function callAction(compiler: Compiler, call: Call, reader: string | undefined, without?: string): CallAction {
  if (!call.retry) throw new Error(`the call of ${call.module} has no retry policy`);
  return {
    kind: 'call',
    module: call.module,
    send: readings(
      compiler,
      call.send.filter((name) => name !== without),
      reader,
    ),
    receive: new Set(call.receive),
    timeoutMs: Number(call.timeoutMs),
    tries: call.retry.tries,
    firstBackoffMs: Number(call.retry.firstMs),
    maxBackoffMs: Number(call.retry.maxMs),
    maxLosses: call.maxLosses,
  };
}

function switchAction(compiler: Compiler, step: Step, choice: Switch): SwitchAction {
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

const noSteps: Omit<JoinSteps, 'id'> = { branches: new Set(), unawaited: new Set() };

function joinAction({ joins }: Compiler, step: Step, { need, losers }: Join): JoinAction {
  const { branches, unawaited } = joins.find(({ id }) => id === step.id) ?? noSteps;
  return { kind: 'join', need, branches, unawaited, cancels: losers === Losers.CANCEL };
}

function waitAction(compiler: Compiler, step: Step, { what }: Wait): WaitAction {
  switch (what.case) {
    case 'forMs':
      return { kind: 'wait', what: { kind: 'for', durationMs: Number(what.value) } };
    case 'until':
      return {
        kind: 'wait',
        what: { kind: 'until', time: condition(compiler, step, `steps.${step.id}.wait.until`, what.value) },
      };
    case 'signal': {
      const { name, receive, timeoutMs, onTimeout } = what.value;
      return {
        kind: 'wait',
        what: { kind: 'signal', name, receive: new Set(receive), timeoutMs: Number(timeoutMs), onTimeout },
      };
    }
    case undefined:
      throw new Error(`step ${step.id} waits for nothing that this engine knows`);
  }
}

function subFlowAction(compiler: Compiler, step: Step, child: SubFlow, without?: string): SubFlowAction {
  const { flow, version, send, receive } = child;
  const sent = send.filter((name) => name !== without);
  return { kind: 'sub_flow', flow, version, send: readings(compiler, sent, step.id), receive };
}

function forEachAction(compiler: Compiler, step: Step, each: ForEach): ForEachAction {
  const { over, as, branch, into, concurrency, maxFailures } = each;
  if (branch.case === undefined) throw new Error(`step ${step.id} has no branch that this engine knows`);
  return {
    kind: 'for_each',
    over: condition(compiler, step, `steps.${step.id}.for_each`, over),
    as,
    branch:
      branch.case === 'call'
        ? callAction(compiler, branch.value, step.id, as)
        : subFlowAction(compiler, step, branch.value, as),
    into: declaredField(compiler, step, into),
    concurrency,
    maxFailures,
  };
}

function declaredField({ fields }: Compiler, step: Step, name: string): DeclaredField {
  const declared = fields.get(name);
  if (!declared) throw new Error(`step ${step.id} sets ${name}, which is not declared`);
  return declared;
}

export function condition(compiler: Compiler, step: Step, path: string, source: string, wanted?: FieldType): Condition {
  const compiled = compileExpression(source, compiler.types, wanted);
  if (compiled.kind === 'invalid') throw new Error(`${path}: ${compiled.message}`);
  const { expression } = compiled;
  return { expression, path, reads: readings(compiler, expression.fields, step.id) };
}

function readings(compiler: Compiler, names: readonly string[], reader: string | undefined): Reading[] {
  return names.map((name) => reading(compiler, name, reader));
}

export function reading(compiler: Compiler, name: string, reader: string | undefined): Reading {
  const writers = compiler.writers.get(name) ?? [];
  const before = reader === undefined ? writers : writers.filter((writer) => compiler.graph.isBefore(writer, reader));
  const declared = compiler.fields.get(name);
  const late = before.flatMap((writer): Array<[string, JoinsBetween]> => {
    const joins = joinsBetween(compiler, writer, reader);
    return joins.length === 0 ? [] : [[fieldKey(writer, name), { writer, joins }]];
  });
  return {
    name,
    keys: [...before, inputWriter].map((writer) => fieldKey(writer, name)),
    late: new Map(late),
    ...(declared && { declared }),
  };
}

/** Joins that are settled before the reader begins, and that may go on before the writer is done; none when it is done for certain. */
function joinsBetween(compiler: Compiler, writer: string, reader: string | undefined): string[] {
  const { joins, isSettledBefore } = compiler;
  if (reader === undefined || isSettledBefore(writer, reader)) return [];
  return joins.filter(({ id, unawaited }) => unawaited.has(writer) && isSettledBefore(id, reader)).map(({ id }) => id);
}
