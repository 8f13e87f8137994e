// What follows from a decision, as data. The driver performs effects only after the change they follow from is stored.
// Every effect can be derived again from a run's state, and is idempotent by its key.

import type { FieldValue } from './run.ts';

export type Effect = CallEffect | AbortEffect;

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

/** Nobody waits for this step's answer any more. */
export interface AbortEffect {
  readonly kind: 'abort';
  readonly step: string;
}
