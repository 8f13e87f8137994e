// One connection to one service of one server; many calls at a time.
//
// It owns the socket and the calls made on it. Whoever makes a call owns what follows from its outcome.
// C1  Every call ends once: answered, exception, notSent or lost. Also when the connection closes.
// C2  A call is notSent only if none of its bytes were given to an open socket.
// C3  A sent call keeps its place (of maxInFlight) until it is answered, also when its caller has given up: the server may be at it.
//     The server drops calls that it didn't begin within their time, unanswered: after twice the time the place is free again.
// C4  At most maxInFlight calls are sent and unanswered, at most maxWaiting wait for a place.
// C5  A connection that was silent for the whole time of a call that got no answer is taken for dead, and closed.
// C6  Once closed it stays closed.

import { connect, type Socket } from 'node:net';
import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '../../../platform/clock/clock.ts';
import { type Reaction, reactionTo, type ServerException, serverException } from './exception-classes.ts';
import { FrameReader, preamble, type Response, readMessage, readResponse, requestFrame } from './frame.ts';
import type { Method, Service } from './methods.ts';

export type Outcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'exception'; readonly exception: ServerException; readonly reaction: Reaction }
  /** Surely not executed. `crowded`: the waiting line is full. */
  | { readonly kind: 'notSent'; readonly cause: string; readonly crowded?: true }
  /** Sent, and nobody knows whether it was or will be executed. */
  | { readonly kind: 'lost'; readonly cause: string };

export interface ConnectionLimits {
  readonly connectTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxWaiting: number;
  readonly maxResponseBytes: number;
}

export interface ConnectionOptions extends ConnectionLimits {
  /** `host:port` */
  readonly address: string;
  readonly service: Service;
  readonly user: string;
  readonly clock: Clock;
  /** Called once, when it is closed. `answered`: the server answered at least one call. */
  readonly onClose: (answered: boolean) => void;
}

interface Call {
  readonly id: number;
  readonly frame: Buffer;
  readonly timeoutMs: number;
  sentAtMs: number | undefined;
  timer: Timer;
  /** Undefined once the caller has its outcome. */
  settle: ((outcome: Outcome<Response>) => void) | undefined;
}

const maxCallId = 2 ** 31 - 1;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #waiting = new Map<number, Call>();
  readonly #inFlight = new Map<number, Call>();
  readonly #connectTimer: Timer;
  #open = false;
  #closed: string | undefined;
  #lastCallId = 0;
  #flushAsked = false;
  #lastReceivedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ConnectionOptions) {
    const { address, service, user, clock, connectTimeoutMs } = options;
    this.#options = options;
    this.#reader = new FrameReader(options.maxResponseBytes);
    const colon = address.lastIndexOf(':');
    this.#socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)), noDelay: true });
    this.#connectTimer = clock.after(connectTimeoutMs, () =>
      this.#close(`no connection to ${address} within ${connectTimeoutMs} ms`),
    );
    this.#socket.on('connect', () => {
      this.#connectTimer.cancel();
      this.#open = true;
      this.#socket.write(preamble(service, user));
      this.#flush();
    });
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('error', (error) => this.#close(`${address}: ${error.message || String(error)}`));
    this.#socket.on('close', () => this.#close(`${address} closed the connection`));
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Ends within `timeoutMs`. Never rejects. */
  async call<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    request: MessageInitShape<I>,
    timeoutMs: number,
  ): Promise<Outcome<MessageShape<O>>> {
    const message = toBinary<DescMessage>(method.input, create<DescMessage>(method.input, request));
    const outcome = await this.#send(method.name, message, timeoutMs);
    if (outcome.kind !== 'answered') return outcome;
    const { exception } = outcome.value.header;
    if (exception !== undefined) {
      const found = serverException(exception.exceptionClassName, exception.stackTrace);
      return { kind: 'exception', exception: found, reaction: reactionTo(found, exception.doNotRetry) };
    }
    try {
      return { kind: 'answered', value: readMessage(method.output, outcome.value.message) };
    } catch (error) {
      // What comes after bytes that make no sense can't be trusted either.
      const cause = `${this.#options.address} answered ${method.name} with a malformed message: ${textOf(error)}`;
      this.#close(cause);
      return { kind: 'lost', cause };
    }
  }

  /** Calls that wait become notSent, calls under way lost. */
  close(): void {
    this.#close(`the connection to ${this.#options.address} was closed here`);
  }

  #send(methodName: string, message: Uint8Array, timeoutMs: number): Promise<Outcome<Response>> {
    if (this.#closed !== undefined) return Promise.resolve({ kind: 'notSent', cause: this.#closed });
    if (this.#waiting.size >= this.#options.maxWaiting) {
      const cause = `${this.#options.address} has ${this.#waiting.size} calls waiting, as many as may`;
      return Promise.resolve({ kind: 'notSent', cause, crowded: true });
    }
    const id = this.#lastCallId === maxCallId ? 1 : this.#lastCallId + 1;
    this.#lastCallId = id;
    return new Promise((settle) => {
      const timer = this.#options.clock.after(timeoutMs, () => this.#timeOut(id));
      const frame = requestFrame(id, methodName, Math.ceil(timeoutMs), message);
      this.#waiting.set(id, { id, frame, timeoutMs, sentAtMs: undefined, timer, settle });
      this.#flushSoon();
    });
  }

  // Calls made in one turn of the event loop leave as one write.
  #flushSoon(): void {
    if (this.#flushAsked || !this.#open || this.#inFlight.size >= this.#options.maxInFlight) return;
    this.#flushAsked = true;
    this.#options.clock.soon(() => {
      this.#flushAsked = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#open || this.#closed !== undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#socket.cork();
    for (const call of this.#waiting.values()) {
      if (this.#inFlight.size >= this.#options.maxInFlight) break;
      this.#waiting.delete(call.id);
      call.sentAtMs = nowMs;
      this.#inFlight.set(call.id, call);
      this.#socket.write(call.frame);
    }
    this.#socket.uncork();
  }

  #receive(chunk: Buffer): void {
    this.#lastReceivedMs = this.#options.clock.monotonicMs();
    try {
      for (const frame of this.#reader.push(chunk)) this.#answer(readResponse(frame));
    } catch (error) {
      this.#close(`${this.#options.address} sent what is no answer: ${textOf(error)}`);
    }
  }

  #answer(response: Response): void {
    const call = this.#inFlight.get(response.header.callId);
    // An answer that comes after its place was given up (C3).
    if (call === undefined) return;
    this.#inFlight.delete(call.id);
    call.timer.cancel();
    call.settle?.({ kind: 'answered', value: response });
    if (this.#waiting.size > 0) this.#flushSoon();
  }

  #timeOut(id: number): void {
    const { address, clock } = this.#options;
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) {
      this.#waiting.delete(id);
      return waiting.settle?.({ kind: 'notSent', cause: `${address}: no place within ${waiting.timeoutMs} ms` });
    }
    const call = this.#inFlight.get(id);
    if (call?.sentAtMs === undefined) return;
    const { settle, sentAtMs } = call;
    if (settle === undefined) {
      this.#inFlight.delete(id);
      return this.#flushSoon();
    }
    call.settle = undefined;
    call.timer = clock.after(call.timeoutMs, () => this.#timeOut(id));
    settle({ kind: 'lost', cause: `${address}: no answer within ${call.timeoutMs} ms` });
    if (this.#lastReceivedMs < sentAtMs) this.#close(`${address} was silent for ${call.timeoutMs} ms`);
  }

  #close(cause: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = cause;
    this.#connectTimer.cancel();
    this.#socket.destroy();
    const calls = [...this.#waiting.values(), ...this.#inFlight.values()];
    this.#waiting.clear();
    this.#inFlight.clear();
    for (const call of calls) {
      call.timer.cancel();
      call.settle?.({ kind: call.sentAtMs === undefined ? 'notSent' : 'lost', cause });
    }
    this.#options.onClose(Number.isFinite(this.#lastReceivedMs));
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
