// A flow made ready to run: references resolved, expressions compiled, writers of each field found. Built once per version
// (compile.ts) and shared by all runs of it; never changed.

import type { ExitState, FieldType, NoMatch } from '../proto/gen/weir/flow/v1/flow_pb.js';
import type { Expression } from './expression.ts';
import type { FieldValue } from './run.ts';

export interface Plan {
  readonly name: string;
  readonly business: string;
  readonly version: number;
  /** How long a run may take, in ms. */
  readonly deadlineMs: number;
  /** In topological order. */
  readonly steps: readonly PlanStep[];
  readonly byId: ReadonlyMap<string, PlanStep>;
  readonly fields: ReadonlyMap<string, DeclaredField>;
  readonly exitCalls: readonly PlanExitCall[];
}

export interface DeclaredField {
  readonly name: string;
  readonly type: FieldType;
  readonly default?: FieldValue;
}

export interface PlanStep {
  readonly id: string;
  /** Steps of `after`, each once. */
  readonly after: readonly string[];
  /** Switches that may choose this step. */
  readonly choosers: readonly string[];
  /** Steps that consider this one: their `after`, or chosen by it. */
  readonly successors: readonly string[];
  /** Absent: always true. */
  readonly when?: Condition;
  readonly action: Action;
}

export type Action = CallAction | SwitchAction | InlineAction;

export interface CallAction {
  readonly kind: 'call';
  readonly module: string;
  readonly send: readonly Reading[];
  /** Names of the fields that are kept of an answer. */
  readonly receive: ReadonlySet<string>;
  readonly timeoutMs: number;
  readonly tries: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly maxLosses: number;
}

export interface SwitchAction {
  readonly kind: 'switch';
  readonly cases: ReadonlyArray<{ readonly when: Condition; readonly then: readonly string[] }>;
  readonly otherwise: readonly string[];
  readonly noMatch: NoMatch;
}

export interface InlineAction {
  readonly kind: 'inline';
  readonly set: ReadonlyArray<{ readonly field: DeclaredField; readonly value: Condition }>;
}

/** An expression with the fields it reads. */
export interface Condition {
  readonly expression: Expression;
  readonly reads: readonly Reading[];
  /** Where it stands in the flow, for messages: `steps.verdict.switch[0].when`. */
  readonly path: string;
}

/** A field as one step sees it: the nearest writer before it that wrote a value, then `input`, then the default. */
export interface Reading {
  readonly name: string;
  /** Field keys to look at, the nearest writer first; the last one is the input's. */
  readonly keys: readonly string[];
  readonly declared?: DeclaredField;
}

export interface PlanExitCall {
  /** `exit/<index>`: names its state among the run's steps. */
  readonly id: string;
  readonly when: ReadonlySet<ExitState>;
  readonly action: CallAction;
}
