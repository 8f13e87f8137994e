// Calls what is named by an address, http or https, instead of a module. There is one endpoint and no directory: what is
// unreachable or overloaded is called again by the step, with pauses.
//
// Owns the exchanges that are out.
//
// Invariants:
//   U1  At most `maxCalls` exchanges are out for one host: a call beyond it is declined as overload, since nothing waits here.
//   U2  `done` is never called before `call` returns.

import type { Answer } from '../../flow/event.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CallbackHosts } from './callback-hosts.ts';
import { answerOf } from './classify.ts';
import { HttpExchange } from './http-exchange.ts';
import { requestBody, requestHeaders } from './http-message.ts';
import type { CallOutcome, ModuleCall, Modules, PendingCall } from './port.ts';

/** Exchanges at once with one host: as many calls as an endpoint of a module gets by default. */
const maxCalls = 64;

export class HttpModules implements Modules {
  readonly #clock: Clock;
  readonly #hosts: CallbackHosts;
  readonly #out = new Map<string, Set<HttpExchange>>();

  constructor(hosts: CallbackHosts, clock: Clock) {
    this.#hosts = hosts;
    this.#clock = clock;
  }

  call(call: ModuleCall, done: (outcome: CallOutcome) => void): PendingCall {
    const url = URL.canParse(call.module) ? new URL(call.module) : undefined;
    if (!url) return this.#answer(answerOf(Ending.REJECTED, `${call.module} is no address`), done);
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const host = `${url.hostname}:${port}`;
    if (!this.#hosts.mayCall(url.hostname, port)) return this.#answer(this.#unlisted(host), done);
    const out = this.#out.get(host) ?? new Set();
    if (out.size >= maxCalls)
      return this.#answer(answerOf(Ending.OVERLOADED, `${maxCalls} calls to ${host} are out`), done);
    return this.#exchange(call, { url, port, host }, out, done);
  }

  /** Gives up what is out: nobody hears of it. */
  close(): void {
    for (const out of this.#out.values()) for (const exchange of out) exchange.giveUp();
    this.#out.clear();
  }

  #exchange(
    call: ModuleCall,
    { url, port, host }: { url: URL; port: number; host: string },
    out: Set<HttpExchange>,
    done: (outcome: CallOutcome) => void,
  ): PendingCall {
    const [startedMs, sentMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()];
    const timeoutMs = Math.max(0, Math.min(call.timeoutMs, call.deadlineMs - startedMs));
    const body = requestBody(call);
    const request = { url, port, headers: requestHeaders(call, body), body, timeoutMs };
    const forget = () => {
      out.delete(exchange);
      if (out.size === 0) this.#out.delete(host);
    };
    const exchange = new HttpExchange(this.#clock, this.#hosts, request, (answer) => {
      forget();
      const durationUs = Math.round((this.#clock.monotonicMs() - sentMs) * 1_000);
      const { ending, message } = answer;
      done({ answer, tries: [{ endpoint: host, ending, message, startedMs, durationUs }] });
    });
    out.add(exchange);
    this.#out.set(host, out);
    return {
      abort: () => {
        if (!out.has(exchange)) return;
        exchange.giveUp();
        forget();
      },
      // It is on its way, or as good as.
      withdraw: () => false,
    };
  }

  #answer(answer: Answer, done: (outcome: CallOutcome) => void): PendingCall {
    const telling = this.#clock.after(0, () => done({ answer, tries: [] }));
    return { abort: () => telling.cancel(), withdraw: () => false };
  }

  #unlisted(host: string): Answer {
    const none = this.#hosts.isEmpty ? ', which lists none' : '';
    return answerOf(Ending.REJECTED, `${host} is not among the hosts of weir up --callback-hosts${none}`);
  }
}
