// One HTTP exchange: one connection, no redirects, no proxies. What its end means is said by http-message.ts.
//
// Owns the connection, until the exchange is over or given up.
//
// Invariants:
//   X1  Connected is only to an address that the host list allows: it is checked where the name is resolved, so that nobody can
//       point the name elsewhere in between.
//   X2  `done` is called once, and not after the exchange was given up.
//   X3  Without a connection nothing was sent: the call is then UNREACHABLE. Afterwards nobody knows what was processed.

import { lookup as resolveName } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Answer } from '../../flow/event.ts';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { CallbackHosts } from './callback-hosts.ts';
import { answerOf } from './classify.ts';
import { classifyHttp, maxResponseBytes } from './http-message.ts';

export interface HttpRequest {
  readonly url: URL;
  readonly port: number;
  readonly headers: Record<string, string | number>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** No address of a host may be connected to. */
class ForbiddenAddress extends Error {}

export class HttpExchange {
  readonly #done: (answer: Answer) => void;
  readonly #request: ClientRequest;
  readonly #timer: Timer;
  #connected = false;
  #over = false;

  constructor(clock: Clock, hosts: CallbackHosts, request: HttpRequest, done: (answer: Answer) => void) {
    const { url, port, headers, body, timeoutMs } = request;
    this.#done = done;
    const lookup = lookupAllowed(hosts, port);
    const options = { method: 'POST', headers, lookup, agent: false, maxHeaderSize: 16 * 1024 } as const;
    this.#request = url.protocol === 'https:' ? requestHttps(url, options) : requestHttp(url, options);
    this.#timer = clock.after(timeoutMs, () => this.#timeOut(timeoutMs));
    const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect';
    this.#request.on('socket', (socket) => socket.once(connected, () => (this.#connected = true)));
    this.#request.on('error', (error) => this.#fail(error));
    this.#request.on('response', (response) => this.#read(response));
    this.#request.end(body);
  }

  giveUp(): void {
    this.#over = true;
    this.#timer.cancel();
    this.#request.destroy();
  }

  #read(response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxResponseBytes) return;
      this.#end(answerOf(Ending.VIOLATION, `the answer has more than ${maxResponseBytes} bytes`));
      this.#request.destroy();
    });
    response.on('end', () => {
      if (response.complete) this.#end(classifyHttp(response.statusCode ?? 0, Buffer.concat(chunks)));
    });
    response.on('error', (error) => this.#fail(error));
    response.on('close', () => this.#fail(new Error('the connection ended before the answer did')));
  }

  #timeOut(timeoutMs: number): void {
    const ending = this.#connected ? Ending.TIMED_OUT : Ending.UNREACHABLE;
    this.#end(answerOf(ending, `${this.#connected ? 'no answer' : 'no connection'} within ${timeoutMs} ms`));
    this.#request.destroy();
  }

  #fail(error: Error): void {
    if (error instanceof ForbiddenAddress) return this.#end(answerOf(Ending.REJECTED, error.message));
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code.startsWith('HPE_'))
      return this.#end(answerOf(Ending.VIOLATION, `the answer is no HTTP: ${error.message}`));
    this.#end(answerOf(this.#connected ? Ending.LOST : Ending.UNREACHABLE, error.message || code));
  }

  #end(answer: Answer): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.cancel();
    this.#done(answer);
  }
}

/** Resolves a name to the addresses that may be connected to, or to none with a reason. */
function lookupAllowed(hosts: CallbackHosts, port: number): LookupFunction {
  return (name, options, callback) => {
    resolveName(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const allowed = addresses.filter(({ address }) => hosts.mayConnect(address, port));
      const [first] = allowed;
      if (!first) return callback(new ForbiddenAddress(forbidden(name, addresses[0]?.address, port)), '');
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

/** Why an address that a URL names itself, or its name resolves to, isn't connected to. */
function forbidden(host: string, address: string | undefined, port: number): string {
  const listed = `${address !== undefined && isIP(address) === 6 ? `[${address}]` : address}:${port}`;
  return `${host} is at ${address}, which is no public address; to call it list ${listed} in --callback-hosts too`;
}
