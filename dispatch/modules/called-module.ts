// One module: its endpoints, the calls that are out and those that wait for a free place.
//
// Owns both kinds of calls from `call` to their outcome.
// 1. A call is in exactly one of three states: waiting (in the line, with a timer), out (with a cancel), over.
// 2. `done` is called once per call, after `call` has returned, and never after an abort or `close`.
// 3. While a call waits, no endpoint that it may go to has a free place: whatever frees a place lets the next one go at once.
// 4. An endpoint is tried at most once per call.
// 5. The time a call may take shrinks by what its tries took; waiting costs only the run's deadline.

import type { Answer, Try } from '../../flow/event.ts';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { defaultMaxMessageBytes } from '../../platform/rpc/limits.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { choose } from '../core/balancing.ts';
import { answerOf } from './classify.ts';
import type { ModuleSetting } from './configuration.ts';
import { Endpoint } from './endpoint.ts';
import { decided, goesOn } from './fail-over.ts';
import type { CallOutcome, ModuleCall } from './port.ts';
import { encodeRequest } from './request.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

export interface ModuleOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Longest timer, in milliseconds: a day, since timers of Node overflow at 24 of them. It is set again when it was too short. */
const maxTimerMs = 24 * 60 * 60 * 1_000;

type RecordedTry = Try & { readonly answer: Answer };

interface Pending extends Waiter {
  readonly call: ModuleCall;
  readonly done: (outcome: CallOutcome) => void;
  readonly tried: Endpoint[];
  readonly tries: RecordedTry[];
  spentMs: number;
  /** `call` has returned. */
  accepted: boolean;
  over: boolean;
  timer: Timer | undefined;
  cancel: (() => void) | undefined;
}

export class CalledModule {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #line = new WaitingLine<Pending>();
  readonly #calls = new Set<Pending>();
  #closed = false;

  constructor(setting: ModuleSetting, { clock, random }: ModuleOptions) {
    this.name = setting.name;
    this.#clock = clock;
    this.#random = random;
    const { concurrency } = setting;
    const healthChanged = (): void => this.#letGo();
    this.endpoints = setting.endpoints.map(
      (address) => new Endpoint({ address, concurrency, clock, random, healthChanged }),
    );
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** As `Modules.call`. */
  call(call: ModuleCall, done: (outcome: CallOutcome) => void): () => void {
    const pending: Pending = {
      call,
      done,
      level: call.level,
      tried: [],
      tries: [],
      spentMs: 0,
      accepted: false,
      over: false,
      timer: undefined,
      cancel: undefined,
    };
    this.#calls.add(pending);
    this.#place(pending);
    pending.accepted = true;
    return () => this.#abort(pending);
  }

  close(): void {
    this.#closed = true;
    for (const pending of this.#calls) this.#abort(pending);
    for (const endpoint of this.endpoints) endpoint.close();
  }

  /** Sends the call, lets it wait, or ends it. */
  #place(pending: Pending): void {
    if (this.#closed) return this.#end(pending, answerOf(Ending.UNREACHABLE, 'this process is closing'));
    const leftMs = this.#leftMs(pending);
    if (leftMs <= 0)
      return this.#end(pending, answerOf(Ending.OVERLOADED, 'no time is left before the deadline of the run'));
    const choice = choose(this.endpoints, pending.tried, this.#random);
    switch (choice.kind) {
      case 'chosen':
        return this.#send(pending, choice.endpoint, leftMs);
      case 'busy':
        this.#line.add(pending);
        return this.#armTimer(pending, this.#clock.monotonicMs());
      case 'none':
        return this.#end(pending, answerOf(Ending.UNREACHABLE, `module ${this.name} has no endpoint`));
    }
  }

  #leftMs({ call, spentMs }: Pending): number {
    return Math.min(call.timeoutMs - spentMs, call.deadlineMs - this.#clock.nowMs());
  }

  #send(pending: Pending, endpoint: Endpoint, timeoutMs: number): void {
    const { call } = pending;
    const request = encodeRequest(call, timeoutMs);
    if (request.length > defaultMaxMessageBytes) {
      const found = `the request has ${request.length} bytes, at most ${defaultMaxMessageBytes} are allowed`;
      return this.#end(pending, answerOf(Ending.VIOLATION, found));
    }
    const startedMs = this.#clock.nowMs();
    const sentMs = this.#clock.monotonicMs();
    pending.tried.push(endpoint);
    pending.cancel = endpoint.send(request, call.rowkey, timeoutMs, (answer) => {
      const tookMs = this.#clock.monotonicMs() - sentMs;
      pending.cancel = undefined;
      pending.spentMs += tookMs;
      const { ending, code, message } = answer;
      pending.tries.push({
        endpoint: endpoint.address,
        ending,
        message,
        startedMs,
        durationUs: Math.round(tookMs * 1_000),
        answer,
        ...(code === undefined ? {} : { code }),
      });
      this.#answered(pending, answer);
    });
  }

  #answered(pending: Pending, answer: Answer): void {
    const on = goesOn(pending.tries) && this.#leftMs(pending) > 0 && pending.tried.length < this.endpoints.length;
    // It came before those that wait, so it chooses first.
    if (on) this.#place(pending);
    this.#letGo();
    if (!on) this.#end(pending, answer);
  }

  /** Lets those go for whom there is a place now. Calls of a full module end one by one, so this is one step as a rule. */
  #letGo(): void {
    if (this.#closed) return;
    const may = (pending: Pending): boolean => choose(this.endpoints, pending.tried, this.#random).kind !== 'busy';
    for (let next = this.#line.first(may); next; next = this.#line.first(may)) {
      this.#leaveLine(next);
      this.#place(next);
    }
  }

  #leaveLine(pending: Pending): void {
    this.#line.remove(pending);
    pending.timer?.cancel();
    pending.timer = undefined;
  }

  #armTimer(pending: Pending, sinceMs: number): void {
    const leftMs = pending.call.deadlineMs - this.#clock.nowMs();
    if (leftMs > 0) {
      pending.timer = this.#clock.after(Math.min(leftMs, maxTimerMs), () => this.#armTimer(pending, sinceMs));
      return;
    }
    this.#leaveLine(pending);
    const waitedMs = Math.round(this.#clock.monotonicMs() - sinceMs);
    const places = this.endpoints.reduce((sum, { concurrency }) => sum + concurrency, 0);
    const what = `waited ${waitedMs} ms for one of ${places} places at ${this.name}, until the deadline of the run`;
    this.#end(pending, answerOf(Ending.OVERLOADED, what));
  }

  /** `answer` stands when no endpoint was tried; else the tries decide. */
  #end(pending: Pending, answer: Answer): void {
    const tries = decided(pending.tries);
    const outcome = { answer: tries.at(-1)?.answer ?? answer, tries };
    if (pending.accepted) this.#deliver(pending, outcome);
    else this.#clock.soon(() => this.#deliver(pending, outcome));
  }

  #deliver(pending: Pending, outcome: CallOutcome): void {
    if (pending.over) return;
    this.#leave(pending);
    pending.done(outcome);
  }

  #abort(pending: Pending): void {
    if (pending.over) return;
    this.#leave(pending);
    this.#leaveLine(pending);
    if (!pending.cancel) return;
    pending.cancel();
    this.#letGo();
  }

  #leave(pending: Pending): void {
    pending.over = true;
    this.#calls.delete(pending);
  }
}
