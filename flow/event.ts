// What happens to a run. Events carry facts only; what follows from them is decided in decide.ts.

import type { Ending, InboxEvent, Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';
import type { FieldValue, RunId } from './run.ts';

export type RunEvent =
  | ClaimedEvent
  | AnsweredEvent
  | WithdrawnEvent
  | InboxArrivedEvent
  | TickEvent
  | ChildSeenEvent
  | ToldEvent;

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

/** How a run that a step started stands. */
export interface ChildSeenEvent {
  readonly kind: 'child seen';
  readonly step: string;
  /** Of the effect that asked. */
  readonly round: number;
  readonly seen: ChildSeen;
}

export type ChildSeen =
  | { readonly kind: 'open'; readonly child: RunId }
  /** It has ended, or is about to, and was asked to go on; what is told of this outcome or one before it is late. */
  | { readonly kind: 'retried'; readonly child: RunId; readonly outcomeNumber: number }
  | { readonly kind: 'ended'; readonly child: RunId; readonly end: ChildEnd }
  /** It can't be started. */
  | { readonly kind: 'refused'; readonly message: string };

export interface ChildEnd {
  readonly outcome: State;
  readonly outcomeNumber: number;
  readonly reason: Reason;
  readonly detail: string;
  readonly fields: ReadonlyMap<string, FieldValue>;
}

/** Another run was told what there was to tell. */
export interface ToldEvent {
  readonly kind: 'told';
  /** `tell/…` */
  readonly step: string;
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
