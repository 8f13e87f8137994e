// One module: its endpoints, the calls that are out and those that wait for a free place.
//
// Owns both kinds of calls from `call` to their outcome.
// 1. A call is in exactly one of three states: waiting (with a timer), out (with a cancel), over.
// 2. `done` is called once per call, when it becomes over, after `call` has returned; never after an abort or `close`.
// 3. While a call waits, no endpoint that it may go to has a free place: whatever frees a place lets the next one go at once.
//    The one at which a call was lost before is no place for it until another was tried, nor is one with a suspect for another.
// 4. An endpoint is tried at most once per call.
// 5. The time a call may take shrinks by what its tries took; waiting costs only the run's deadline.
// 6. At most one suspect is out at an endpoint: what a poison item kills is then itself and calls that were rarely lost.

import type { Answer, Try } from '../../flow/event.ts';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { defaultMaxMessageBytes } from '../../platform/rpc/limits.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Choice, choose } from '../core/balancing.ts';
import { answerOf } from './classify.ts';
import type { ModuleSetting } from './configuration.ts';
import { Endpoint, type EndpointPort, type OpenEndpoint } from './endpoint.ts';
import { decided, goesOn } from './fail-over.ts';
import type { CallOutcome, ModuleCall, PendingCall } from './port.ts';
import { encodeRequest } from './request.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

export interface ModuleOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Over gRPC unless said otherwise. */
  readonly openEndpoint?: OpenEndpoint;
}

/** Longest timer, in milliseconds: a day, since timers of Node overflow at 24 of them. It is set again when it was too short. */
const maxTimerMs = 24 * 60 * 60 * 1_000;

type RecordedTry = Try & { readonly answer: Answer };

type CallState =
  /** In the line until the timer ends it at the deadline; or it can't go out, and the timer tells so when `call` has returned. */
  | { readonly kind: 'waiting'; readonly timer: Timer }
  | { readonly kind: 'out'; readonly cancel: () => void }
  | { readonly kind: 'over' };

const over: CallState = { kind: 'over' };

interface OneCall extends Waiter {
  readonly call: ModuleCall;
  readonly done: (outcome: CallOutcome) => void;
  readonly tried: EndpointPort[];
  readonly tries: RecordedTry[];
  spentMs: number;
  state: CallState;
}

export class CalledModule {
  readonly name: string;
  readonly endpoints: readonly EndpointPort[];
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #line = new WaitingLine<OneCall>();
  readonly #calls = new Set<OneCall>();
  /** Where a suspect is out. */
  readonly #suspected = new Set<EndpointPort>();
  #closed = false;

  constructor(setting: ModuleSetting, { clock, random, openEndpoint }: ModuleOptions) {
    this.name = setting.name;
    this.#clock = clock;
    this.#random = random;
    const { concurrency } = setting;
    const healthChanged = (): void => this.#letGo();
    const open = openEndpoint ?? ((options) => new Endpoint(options));
    this.endpoints = setting.endpoints.map((address) => open({ address, concurrency, clock, random, healthChanged }));
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** As `Modules.call`. */
  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall {
    const one: OneCall = {
      call,
      done,
      level: call.level,
      tried: [],
      tries: [],
      spentMs: 0,
      state: over,
      get goesAnywhere() {
        return this.tried.length === 0 && call.avoid === undefined && !call.isSuspect;
      },
    };
    this.#calls.add(one);
    const outcome = this.#place(one);
    if (outcome) one.state = { kind: 'waiting', timer: this.#clock.after(0, () => this.#end(one, outcome)) };
    return { abort: () => this.#abort(one), withdraw: () => this.#withdraw(one) };
  }

  close(): void {
    this.#closed = true;
    for (const one of this.#calls) this.#abort(one);
    for (const endpoint of this.endpoints) endpoint.close();
  }

  /** Sends the call or lets it wait; answers the outcome when it can do neither. */
  #place(one: OneCall): CallOutcome | undefined {
    if (this.#closed) return outcomeOf(one, answerOf(Ending.UNREACHABLE, 'this process is closing'));
    const leftMs = this.#leftMs(one);
    if (leftMs <= 0)
      return outcomeOf(one, answerOf(Ending.OVERLOADED, 'no time is left before the deadline of the run'));
    const choice = this.#choose(one);
    switch (choice.kind) {
      case 'chosen':
        return this.#send(one, choice.endpoint, leftMs);
      case 'busy':
        this.#line.add(one);
        return this.#wait(one, this.#clock.monotonicMs());
      case 'none':
        return outcomeOf(one, answerOf(Ending.UNREACHABLE, `module ${this.name} has no endpoint`));
    }
  }

  #choose(one: OneCall): Choice<EndpointPort> {
    const barred = (endpoint: EndpointPort): boolean => one.call.isSuspect && this.#suspected.has(endpoint);
    return choose(this.endpoints, this.#unwanted(one), this.#random, barred);
  }

  /** Endpoints that are out of the question now. The one at which the call was lost before is, until another was tried. */
  #unwanted({ call, tried }: OneCall): readonly EndpointPort[] {
    if (call.avoid === undefined || tried.length > 0 || this.endpoints.length === 1) return tried;
    return this.endpoints.filter(({ address }) => address === call.avoid);
  }

  #leftMs({ call, spentMs }: OneCall): number {
    return Math.min(call.timeoutMs - spentMs, call.deadlineMs - this.#clock.nowMs());
  }

  #send(one: OneCall, endpoint: EndpointPort, timeoutMs: number): CallOutcome | undefined {
    const { call } = one;
    const request = encodeRequest(call, timeoutMs);
    if (request.length > defaultMaxMessageBytes) {
      const found = `the request has ${request.length} bytes, at most ${defaultMaxMessageBytes} are allowed`;
      return outcomeOf(one, answerOf(Ending.VIOLATION, found));
    }
    const startedMs = this.#clock.nowMs();
    const sentMs = this.#clock.monotonicMs();
    one.tried.push(endpoint);
    if (call.isSuspect) this.#suspected.add(endpoint);
    const cancel = endpoint.send(request, call.rowkey, timeoutMs, (answer) => {
      if (call.isSuspect) this.#suspected.delete(endpoint);
      const tookMs = this.#clock.monotonicMs() - sentMs;
      one.spentMs += tookMs;
      const { ending, code, message } = answer;
      one.tries.push({
        endpoint: endpoint.address,
        ending,
        message,
        startedMs,
        durationUs: Math.round(tookMs * 1_000),
        answer,
        ...(code === undefined ? {} : { code }),
      });
      this.#answered(one, answer);
    });
    one.state = {
      kind: 'out',
      cancel: () => {
        if (call.isSuspect) this.#suspected.delete(endpoint);
        cancel();
      },
    };
    return undefined;
  }

  #answered(one: OneCall, answer: Answer): void {
    const on = goesOn(one.tries) && this.#leftMs(one) > 0 && one.tried.length < this.endpoints.length;
    // It came before those that wait, so it chooses first.
    const outcome = on ? this.#place(one) : outcomeOf(one, answer);
    this.#letGo();
    if (outcome) this.#end(one, outcome);
  }

  /** Lets those go for whom there is a place now. Calls of a full module end one by one, so this is one step as a rule. */
  #letGo(): void {
    if (this.#closed) return;
    const may = (one: OneCall): boolean => this.#choose(one).kind !== 'busy';
    for (let next = this.#line.first(may); next; next = this.#line.first(may)) {
      this.#leaveLine(next);
      const outcome = this.#place(next);
      if (outcome) this.#end(next, outcome);
    }
  }

  #leaveLine(one: OneCall): void {
    this.#line.remove(one);
    if (one.state.kind === 'waiting') one.state.timer.cancel();
  }

  #wait(one: OneCall, sinceMs: number): undefined {
    const leftMs = (): number => one.call.deadlineMs - this.#clock.nowMs();
    const timer = this.#clock.after(Math.min(leftMs(), maxTimerMs), () => {
      if (leftMs() > 0) this.#wait(one, sinceMs);
      else this.#end(one, outcomeOf(one, this.#waitedInVain(sinceMs)));
    });
    one.state = { kind: 'waiting', timer };
  }

  #waitedInVain(sinceMs: number): Answer {
    const waitedMs = Math.round(this.#clock.monotonicMs() - sinceMs);
    const places = this.endpoints.reduce((sum, { concurrency }) => sum + concurrency, 0);
    const what = `waited ${waitedMs} ms for one of ${places} places at ${this.name}, until the deadline of the run`;
    return answerOf(Ending.OVERLOADED, what);
  }

  #end(one: OneCall, outcome: CallOutcome): void {
    // Whoever was let go before may have aborted it.
    if (one.state.kind === 'over') return;
    this.#leave(one);
    one.done(outcome);
  }

  #abort(one: OneCall): void {
    const { state } = one;
    this.#leave(one);
    if (state.kind !== 'out') return;
    state.cancel();
    this.#letGo();
  }

  #withdraw(one: OneCall): boolean {
    if (one.state.kind !== 'waiting' || one.tried.length > 0) return false;
    this.#leave(one);
    return true;
  }

  #leave(one: OneCall): void {
    this.#leaveLine(one);
    one.state = over;
    this.#calls.delete(one);
  }
}

/** `answer` stands when no endpoint was tried; else the tries decide. */
function outcomeOf(one: OneCall, answer: Answer): CallOutcome {
  const tries = decided(one.tries);
  return { answer: tries.at(-1)?.answer ?? answer, tries };
}
