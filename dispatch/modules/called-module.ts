// One module: its endpoints, which come and go, the calls that are out and those that wait for a free place.
//
// Owns both kinds of calls from `call` to their outcome, and the endpoints from the first call that they may get to the end of the last.
// 1. A call is in exactly one of three states: waiting (with a timer), out (with a cancel), over.
// 2. `done` is called once per call, when it becomes over, after `call` has returned; never after an abort or `close`.
// 3. While a call waits, there are endpoints and none that it may go to has a free place: whatever frees a place, a new endpoint
//    among it, lets the next one go at once. With the last endpoint that was not tried goes the waiting.
//    The one at which a call was lost before is no place for it until another was tried, nor is one with a suspect for another.
// 4. An endpoint is tried at most once per call. What comes back at the same address is another one.
// 5. The time a call may take shrinks by what its tries took; waiting costs only the run's deadline.
// 6. At most one suspect is out at an endpoint: what a poison item kills is then itself and calls that were rarely lost.
// 7. An endpoint that is taken away gets no new call; those that are out there end as if it were still listed, then it is closed.

import type { Answer, Try } from '../../flow/event.ts';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { defaultMaxMessageBytes } from '../../platform/rpc/limits.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Choice, choose } from '../core/balancing.ts';
import { CalledEndpoint } from './called-endpoint.ts';
import { answerOf } from './classify.ts';
import type { ModuleSetting } from './configuration.ts';
import { Endpoint, type OpenEndpoint } from './endpoint.ts';
import { type EndpointSetting, staticEndpoint } from './endpoint-setting.ts';
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
  /** The data centre or cloud of this process; endpoints that say another one are far. None by default: then none is far. */
  readonly unit?: string;
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
  readonly tried: CalledEndpoint[];
  readonly tries: RecordedTry[];
  spentMs: number;
  state: CallState;
}

export class CalledModule {
  readonly name: string;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #open: OpenEndpoint;
  readonly #unit: string;
  #endpoints: readonly CalledEndpoint[] = [];
  /** Taken away, with calls out (7). */
  readonly #leaving = new Set<CalledEndpoint>();
  readonly #line = new WaitingLine<OneCall>();
  readonly #calls = new Set<OneCall>();
  /** Where a suspect is out. */
  readonly #suspected = new Set<CalledEndpoint>();
  #closed = false;

  /** Begins to connect to the listed endpoints. */
  constructor(setting: ModuleSetting, { clock, random, openEndpoint, unit = '' }: ModuleOptions) {
    this.name = setting.name;
    this.#clock = clock;
    this.#random = random;
    this.#open = openEndpoint ?? ((options) => new Endpoint(options));
    this.#unit = unit;
    this.setEndpoints(setting.endpoints.map((address) => staticEndpoint(address, setting.concurrency)));
  }

  /** Those that take calls, then those that were taken away and still have calls out. */
  get endpoints(): readonly CalledEndpoint[] {
    this.#dropGone();
    return [...this.#endpoints, ...this.#leaving];
  }

  /** Nothing is called or waits, and there is no endpoint. */
  get isIdle(): boolean {
    return this.endpoints.length === 0 && this.#calls.size === 0;
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

  /**
   * Replaces the endpoints, one for each address at most. One that is there under the same address, source and registration stays as it is;
   * of the others the calls out are waited for (7). Calls that wait go to the new ones at once (3).
   */
  setEndpoints(wanted: readonly EndpointSetting[]): void {
    if (this.#closed) return;
    const there = new Map(this.#endpoints.map((endpoint) => [identityOf(endpoint.setting), endpoint]));
    this.#endpoints = wanted.map((setting) => {
      const identity = identityOf(setting);
      const endpoint = there.get(identity);
      there.delete(identity);
      return endpoint ?? this.#openEndpoint(setting);
    });
    for (const endpoint of there.values()) {
      endpoint.leave();
      this.#leaving.add(endpoint);
    }
    this.#dropGone();
    this.#letGo();
  }

  close(): void {
    this.#closed = true;
    for (const one of this.#calls) this.#abort(one);
    for (const endpoint of this.endpoints) endpoint.close();
  }

  #openEndpoint(setting: EndpointSetting): CalledEndpoint {
    const isFar = this.#unit !== '' && setting.unit !== '' && setting.unit !== this.#unit;
    const [clock, random, open] = [this.#clock, this.#random, this.#open];
    return new CalledEndpoint({ setting, isFar, clock, random, open, changed: () => this.#letGo() });
  }

  #dropGone(): void {
    for (const endpoint of this.#leaving) if (endpoint.isGone) this.#leaving.delete(endpoint);
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

  #choose(one: OneCall): Choice<CalledEndpoint> {
    const barred = (endpoint: CalledEndpoint): boolean => one.call.isSuspect && this.#suspected.has(endpoint);
    return choose(this.#endpoints, this.#unwanted(one), this.#random, barred);
  }

  /** Endpoints that are out of the question now. The one at which the call was lost before is, until another was tried. */
  #unwanted({ call, tried }: OneCall): readonly CalledEndpoint[] {
    if (call.avoid === undefined || tried.length > 0 || this.#endpoints.length === 1) return tried;
    return this.#endpoints.filter(({ address }) => address === call.avoid);
  }

  #leftMs({ call, spentMs }: OneCall): number {
    return Math.min(call.timeoutMs - spentMs, call.deadlineMs - this.#clock.nowMs());
  }

  #send(one: OneCall, endpoint: CalledEndpoint, timeoutMs: number): CallOutcome | undefined {
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
    const isLeft = this.#endpoints.some((endpoint) => !one.tried.includes(endpoint));
    const on = goesOn(one.tries) && isLeft && this.#leftMs(one) > 0;
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
    const places = this.#endpoints.reduce((sum, { concurrency }) => sum + concurrency, 0);
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

/** What makes two settings the same endpoint. */
function identityOf({ address, source, registration }: EndpointSetting): string {
  return `${source} ${registration} ${address.text}`;
}
