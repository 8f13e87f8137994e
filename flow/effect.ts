// What follows from a decision, as data. The driver performs effects only after the change they follow from is stored.
// Every effect can be derived again from a run's state, and is idempotent by its key.

import type { InboxEvent } from '../proto/gen/weir/run/v1/run_pb.js';
import type { FieldValue, Parent, RunId } from './run.ts';

export type Effect = CallEffect | AbortEffect | StartEffect | TellEffect;

/** Call a module. */
export interface CallEffect {
  readonly kind: 'call';
  /** Step id, or `exit/<index>`. */
  readonly step: string;
  /** Run with generation / step path / round: the same on every retry and every re-claim. */
  readonly callKey: string;
  readonly module: string;
  readonly round: number;
  /** 1 for the first try of this round. */
  readonly attempt: number;
  /** From sending. */
  readonly timeoutMs: number;
  /** When nobody waits for the answer any more, in ms since 1970. */
  readonly deadlineMs: number;
  /** So many calls of this step were lost that it may be a poison item: at an endpoint it goes alone among such calls. */
  readonly isSuspect: boolean;
  /** Name and value, in the order that the flow declares. */
  readonly fields: ReadonlyArray<readonly [string, FieldValue]>;
}

/** A run that a step starts, before anybody knows which business line its flow belongs to. */
export interface ChildName {
  readonly flow: string;
  /** 0: the one that is released now. */
  readonly version: number;
  readonly itemKey: Uint8Array;
}

/** Start a run unless it is there, and say how it stands: a ChildSeenEvent follows. */
export interface StartEffect {
  readonly kind: 'start';
  /** Path of the step. */
  readonly step: string;
  readonly round: number;
  readonly name: ChildName;
  readonly level: number;
  /** The child ends before its parent does, in ms since 1970; absent when nobody waits for it. */
  readonly deadlineMs?: number;
  readonly rowKey: Uint8Array;
  readonly fields: ReadonlyArray<readonly [string, FieldValue]>;
  readonly parent: Parent;
  /** When the step was retried: the child is too, by an event with this id, unless it has succeeded. */
  readonly retryId?: string;
}

/** Put an event into the inbox of another run: a ToldEvent follows once it is durable there. */
export interface TellEffect {
  readonly kind: 'tell';
  /** Path of the state that remembers it: `tell/…`. */
  readonly step: string;
  readonly to: RunId | ChildName;
  readonly event: InboxEvent;
  /** What the other run becomes when it isn't there: CANCELLED, so that a late start finds it so. */
  readonly ifAbsent: 'nothing' | 'create cancelled';
}

/** Nobody waits for this step's answer any more. */
export interface AbortEffect {
  readonly kind: 'abort';
  readonly step: string;
}
