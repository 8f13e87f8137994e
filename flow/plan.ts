// A flow made ready to run: references resolved, expressions compiled, writers of each field found. Built once per version
// (compile.ts) and shared by all runs of it; never changed.

import type { ExitState, FieldType, NoMatch, OnTimeout } from '../proto/gen/weir/flow/v1/flow_pb.js';
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
  /** Signals that some step waits for. */
  readonly signals: ReadonlyMap<string, SignalWait>;
  /** A field as it stands when the run ends: its last writer's. */
  readonly atEnd: (name: string) => Reading;
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
  /** The first join that may do without the branch in which this step stands: the step's failure is then that branch's only. */
  readonly join?: string;
  readonly action: Action;
}

export type Action =
  | CallAction
  | SwitchAction
  | InlineAction
  | JoinAction
  | WaitAction
  | CallbackAction
  | SubFlowAction
  | StartFlowAction
  | ForEachAction;

export interface CallAction {
  readonly kind: 'call';
  /** Its name, or an address (http, https). */
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

export interface JoinAction {
  readonly kind: 'join';
  /** Predecessors that must be done; 0: all that were not skipped. */
  readonly need: number;
  /** Steps from which every way leads to this join, when it may do without some of them; in topological order. */
  readonly branches: ReadonlySet<string>;
  /** Steps before it that may be settled after it has gone on. */
  readonly unawaited: ReadonlySet<string>;
  /** Whether those of its branches that it needs no more are cancelled. */
  readonly cancels: boolean;
}

export interface WaitAction {
  readonly kind: 'wait';
  readonly what:
    | { readonly kind: 'for'; readonly durationMs: number }
    | { readonly kind: 'until'; readonly time: Condition }
    | SignalWait;
}

export interface SignalWait {
  readonly kind: 'signal';
  readonly name: string;
  readonly receive: ReadonlySet<string>;
  /** 0: as long as the run may take. */
  readonly timeoutMs: number;
  readonly onTimeout: OnTimeout;
}

export interface CallbackAction {
  readonly kind: 'callback';
  /** Asks for the work. `receive` names fields of the later answer. */
  readonly call: CallAction;
  /** From when the work was taken on. */
  readonly answerWithinMs: number;
}

export interface SubFlowAction {
  readonly kind: 'sub_flow';
  readonly flow: string;
  /** 0: the one that is released when the child begins. */
  readonly version: number;
  readonly send: readonly Reading[];
  readonly receive: readonly string[];
}

export interface StartFlowAction {
  readonly kind: 'start_flow';
  readonly flow: string;
  readonly send: readonly Reading[];
  readonly maxChain: number;
}

export interface ForEachAction {
  readonly kind: 'for_each';
  readonly over: Condition;
  /** Name under which a branch sends its element. */
  readonly as: string;
  readonly branch: CallAction | SubFlowAction;
  readonly into: DeclaredField;
  readonly concurrency: number;
  readonly maxFailures: number;
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
  /**
   * By key, the joins between its writer and the reader, where they may go on before the writer is done. What is written later
   * isn't seen behind them, so that a repetition sees what the first one saw.
   */
  readonly late: ReadonlyMap<string, JoinsBetween>;
  readonly declared?: DeclaredField;
}

export interface JoinsBetween {
  readonly writer: string;
  readonly joins: readonly string[];
}

export interface PlanExitCall {
  /** `exit/<index>`: names its state among the run's steps. */
  readonly id: string;
  readonly when: ReadonlySet<ExitState>;
  readonly action: CallAction;
}
