// The port through which the driver calls modules. One adapter speaks gRPC (caller.ts); the simulation has its own.

import type { CallEffect } from '../../flow/effect.ts';
import type { Answer, Try } from '../../flow/event.ts';

export interface ModuleCall extends CallEffect {
  readonly rowkey: Uint8Array;
  readonly business: string;
  readonly flow: string;
  /** Of the run: 1 (first) to 9. Calls that wait for a free place go in this order. */
  readonly level: number;
  readonly epoch: number;
  /** Where the call before this one was lost: another endpoint goes first, where there is one. */
  readonly avoid?: string;
  /** W3C trace context; absent when the run isn't traced. */
  readonly traceparent?: string;
}

export interface CallOutcome {
  readonly answer: Answer;
  /** Every endpoint tried, in order; empty when none could be. The last one gave `answer`. */
  readonly tries: readonly Try[];
}

/** A call as whoever asked for it holds it. Both do nothing when the call is over. */
export interface PendingCall {
  /** Nobody waits any more: cancels the call when it is out. `done` is not called. */
  abort(): void;
  /**
   * Takes the call back if it waits for a place and was at no endpoint yet, so that it surely was not processed: a run that is
   * handed back then has no loss to count. Answers whether it did; then `done` is not called. False when the call is out, was
   * declined somewhere or is over; then nothing changes, and `done` is called as if nobody had asked.
   */
  withdraw(): boolean;
}

export interface Modules {
  /**
   * Calls a module. Overload, NO_AUTH and endpoints that can't be reached are tried at another endpoint before `done` hears of
   * them, so that `done` gets one answer for the module; a connection lost after sending is reported at once, since the loss
   * must be stored before the call is repeated. `done` is called once, never before this returns, and not after an abort or a
   * withdrawal.
   */
  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall;
}
