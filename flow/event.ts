// What happens to a run. Events carry facts only; what follows from them is decided in decide.ts.

import type { Ending, InboxEvent } from '../proto/gen/weir/run/v1/run_pb.js';
import type { FieldValue } from './run.ts';

export type RunEvent = ClaimedEvent | AnsweredEvent | WithdrawnEvent | InboxArrivedEvent | TickEvent;

/** A dispatch takes the run: calls that were out are losses now, and the run goes on. */
export interface ClaimedEvent {
  readonly kind: 'claimed';
  /** Claims since the last accepted commit, this one included. */
  readonly barrenClaims: number;
}

/** The end of a call, as far as it is known. */
export interface AnsweredEvent {
  readonly kind: 'answered';
  readonly step: string;
  /** Of the call; an answer of another round or attempt is late. */
  readonly round: number;
  readonly attempt: number;
  readonly answer: Answer;
  /** Every endpoint tried under this call, in order, the last one being the one that gave `answer`. */
  readonly tries: readonly Try[];
}

/** The answer of a module, or what stands for it. */
export interface Answer {
  readonly ending: Ending;
  readonly code?: number;
  readonly message: string;
  /** All fields that the module returned; what the step doesn't declare is dropped. */
  readonly fields: ReadonlyMap<string, FieldValue>;
}

/** One try at one endpoint. */
export interface Try {
  readonly endpoint: string;
  readonly ending: Ending;
  readonly code?: number;
  readonly message: string;
  readonly startedMs: number;
  /** Microseconds from sending to the answer. */
  readonly durationUs: number;
}

/** A call that had not gone out, and won't. */
export interface WithdrawnEvent {
  readonly kind: 'withdrawn';
  readonly step: string;
  readonly round: number;
}

/** An event from the run's inbox. */
export interface InboxArrivedEvent {
  readonly kind: 'inbox';
  readonly event: InboxEvent;
}

/** Time went on: sleeping steps whose time has come are called, deadlines are met. */
export interface TickEvent {
  readonly kind: 'tick';
}

/** What a decision may know besides the run: all of it comes from outside, so that the core stays pure. */
export interface Context {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Uniform in [0, 1); each call gives the next one. */
  readonly random: () => number;
  /** How long a terminal status may wait for exit calls. */
  readonly endingDeadlineMs: number;
}
