// One stream of one endpoint: from its registration to its end, however that comes.
//
// Owns the publication of the endpoint while the stream lives.
//
// Invariants:
//   L1  The endpoint is withdrawn once for each time that it was published, or may have been: when it drains, is superseded, or the
//       stream ends. A withdrawal begins when the publication has come to an end.
//   L2  Nothing is sent after the end. The end is told to `ended` once.
//   L3  A stream that says nothing for `silenceMs` ends, and so does one that says too much.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import type { EndpointDirectory, RegisteredEndpoint } from '../../platform/coordination/endpoint-directory.ts';
import type { Channel } from '../../platform/rpc/channel.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import {
  type RegisterRequest,
  type RegisterResponse,
  RegisterResponseSchema,
  type Registration,
} from '../../proto/gen/weir/directory/v1/directory_pb.js';

/** How often a heartbeat is expected, in ms: an endpoint that froze is gone within some seconds, and ten thousand cost 2,000 messages a second. */
export const heartbeatMs = 5_000;
/** Without any message for so long the lease ends, in ms: two heartbeats may be late. */
export const silenceMs = 3 * heartbeatMs;
/** Messages that may come within `heartbeatMs`. */
export const maxMessages = 20;

export type LeaseChannel = Channel<RegisterResponse, RegisterRequest>;

export interface LeasePorts {
  readonly clock: Clock;
  readonly directory: EndpointDirectory;
  /** Checks a registration and gives it its id; throws an RpcError that says why not. */
  readonly admit: (registration: Registration, peer: string) => RegisteredEndpoint;
  /** The lease is over. */
  readonly ended: (lease: Lease) => void;
  readonly onError: (error: unknown, doing: string) => void;
}

export class Lease {
  /** The connection that the stream came by. */
  readonly peer: string;
  readonly #channel: LeaseChannel;
  readonly #ports: LeasePorts;
  #endpoint: RegisteredEndpoint | undefined;
  #publication: Promise<boolean> | undefined;
  #withdrawal: Promise<void> | undefined;
  #refusal: RpcError | undefined;
  #isOver = false;
  #heardMs: number;
  #countedMs: number;
  #messages = 0;
  #silence: Timer | undefined;

  constructor(channel: LeaseChannel, peer: string, ports: LeasePorts) {
    this.peer = peer;
    this.#channel = channel;
    this.#ports = ports;
    this.#heardMs = ports.clock.monotonicMs();
    this.#countedMs = this.#heardMs;
  }

  /** What is called under this lease; undefined before the registration, and from its withdrawal on. */
  get endpoint(): RegisteredEndpoint | undefined {
    return this.#withdrawal ? undefined : this.#endpoint;
  }

  /** Why the stream ended from this side, when that was no good end. */
  get refusal(): RpcError | undefined {
    return this.#refusal;
  }

  start(): void {
    this.#listenForSilence();
    this.#channel.onClose(() => this.#end());
    this.#channel.listen((request) => this.#hear(request));
  }

  /** The same module has registered at the same address again. */
  supersede(registration: string): void {
    this.#send({ case: 'superseded', value: { registration } });
    this.#end();
  }

  /** This dispatch is about to stop: the endpoint should go to another one first. */
  stopping(): void {
    this.#send({ case: 'stopping', value: {} });
  }

  refuse(refusal: RpcError): void {
    if (this.#isOver) return;
    this.#refusal = refusal;
    this.#end();
  }

  #hear({ kind }: RegisterRequest): void {
    if (this.#isOver) return;
    this.#heardMs = this.#ports.clock.monotonicMs();
    if (this.#isTooMuch()) return;
    if (!this.#endpoint && kind.case !== 'registration') {
      return this.refuse(
        invalid(`kind: found ${kind.case ?? 'nothing'}, allowed is a registration as the first message`),
      );
    }
    switch (kind.case) {
      case 'registration':
        return this.#register(kind.value);
      case 'heartbeat':
        return this.#send({ case: 'heartbeat', value: {} });
      case 'draining':
        return void this.#withdraw().then(() => this.#send({ case: 'drained', value: {} }));
      case undefined:
        // Of a newer sender: a sign of life.
        return;
    }
  }

  #isTooMuch(): boolean {
    if (this.#heardMs - this.#countedMs >= heartbeatMs) {
      this.#countedMs = this.#heardMs;
      this.#messages = 0;
    }
    if (++this.#messages <= maxMessages) return false;
    const what = `kind: found more than ${maxMessages} messages within ${heartbeatMs} ms, allowed is one heartbeat`;
    this.refuse(new RpcError(Code.RESOURCE_EXHAUSTED, what));
    return true;
  }

  #register(registration: Registration): void {
    if (this.#endpoint) return this.refuse(invalid('registration: found a second one, allowed is one for each stream'));
    try {
      this.#endpoint = this.#ports.admit(registration, this.peer);
    } catch (error) {
      if (error instanceof RpcError) return this.refuse(error);
      throw error;
    }
    this.#publication = this.#publish(this.#endpoint);
  }

  /** Whether it is published. */
  async #publish(endpoint: RegisteredEndpoint): Promise<boolean> {
    try {
      await this.#ports.directory.publish(endpoint);
    } catch (error) {
      this.#ports.onError(error, `publishing ${endpoint.module} at ${endpoint.address}`);
      this.refuse(
        new RpcError(Code.UNAVAILABLE, 'other dispatches can not be told now; register again, here or elsewhere'),
      );
      return false;
    }
    if (!this.#withdrawal) {
      const { registration, address } = endpoint;
      this.#send({ case: 'registered', value: { registration, address, heartbeatMs } });
    }
    return true;
  }

  #withdraw(): Promise<void> {
    this.#withdrawal ??= this.#withdrawWhenPublished();
    return this.#withdrawal;
  }

  async #withdrawWhenPublished(): Promise<void> {
    if (!this.#endpoint) return;
    // Also when it failed: nobody knows how far it got.
    await this.#publication;
    const { module, address } = this.#endpoint;
    try {
      await this.#ports.directory.withdraw(this.#endpoint);
    } catch (error) {
      this.#ports.onError(error, `withdrawing ${module} at ${address}`);
    }
  }

  #listenForSilence(): void {
    const leftMs = this.#heardMs + silenceMs - this.#ports.clock.monotonicMs();
    if (leftMs <= 0) {
      return this.refuse(new RpcError(Code.DEADLINE_EXCEEDED, `nothing was heard for ${silenceMs} ms; register again`));
    }
    this.#silence = this.#ports.clock.after(leftMs, () => this.#listenForSilence());
  }

  #send(kind: Exclude<MessageInitShape<typeof RegisterResponseSchema>['kind'], undefined>): void {
    if (!this.#isOver) this.#channel.send(create(RegisterResponseSchema, { kind }));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#silence?.cancel();
    this.#channel.close();
    void this.#withdraw();
    this.#ports.ended(this);
  }
}

function invalid(message: string): RpcError {
  return new RpcError(Code.INVALID_ARGUMENT, message);
}
