// One request and its answer, on the wire.
//
// An exchange belongs to whoever started it and tells `ended` once, unless it is cancelled before.
// 1. `ended` is never called while `start` runs.
// 2. After `cancel` nothing is told.
//
// It speaks to the channel itself: the client of grpc-js on top of it builds an event emitter, interceptors and a stack trace
// for every call, about a fifth of the whole cost.

import { type ChannelInterface, status as Code, Metadata, type StatusObject } from '@grpc/grpc-js';
import type { Answer } from '../../flow/event.ts';
import { originOf } from '../../platform/rpc/origin.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { answerOf, classifyResponse, classifyStatus } from './classify.ts';

const path = '/weir.module.v1.Module/Process';
// The channel copies it for each call.
const noMetadata = new Metadata();

export class Exchange {
  readonly #rowkey: Uint8Array;
  readonly #ended: (answer: Answer) => void;
  readonly #channel: ChannelInterface;
  #call: ReturnType<ChannelInterface['createCall']> | undefined;
  #answered = false;
  #messages = 0;
  #message: Buffer | undefined;
  #over = false;

  constructor(channel: ChannelInterface, rowkey: Uint8Array, ended: (answer: Answer) => void) {
    this.#channel = channel;
    this.#rowkey = rowkey;
    this.#ended = ended;
  }

  /** `timeoutMs` runs on gRPC's own timer: the deadline travels with the request, and both sides must mean the same. */
  start(request: Buffer, timeoutMs: number): void {
    this.#call = this.#channel.createCall(path, Date.now() + timeoutMs, undefined, null, undefined);
    this.#call.start(noMetadata, this);
    this.#call.startRead();
    this.#call.sendMessageWithContext({}, request);
    this.#call.halfClose();
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#call?.cancelWithStatus(Code.CANCELLED, 'nobody waits for the answer any more');
  }

  /** For the channel. */
  onReceiveMetadata(): void {
    this.#answered = true;
  }

  /** For the channel. */
  onReceiveMessage(message: Buffer): void {
    this.#message ??= message;
    this.#messages++;
    // Without reading on, a second message would hide the status behind it until the deadline.
    this.#call?.startRead();
  }

  /** For the channel. */
  onReceiveStatus(status: StatusObject): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended(this.#answer(status));
  }

  #answer(status: StatusObject): Answer {
    const { code, details } = status;
    if (code !== Code.OK) {
      const answered = this.#answered;
      // The peer of a call without a stream is the target of the channel; with one it is the address of the connection.
      const opened = this.#call?.getPeer() !== this.#channel.getTarget();
      const origin = originOf(status, { answered, aborted: false });
      return classifyStatus({ code, details, origin, opened, answered });
    }
    if (this.#message === undefined || this.#messages > 1) {
      return answerOf(Ending.VIOLATION, `${this.#messages} messages came with status OK, exactly one is allowed`);
    }
    return classifyResponse(this.#message, this.#rowkey);
  }
}
