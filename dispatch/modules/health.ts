// Watches how one endpoint is: whether it can be reached, and what it says of itself through grpc.health.v1.
//
// Owns the health of the endpoint and, of its channel, the wish to be connected.
// 1. The channel is never left idle: while the watch runs it is connected, connecting or waiting to connect again.
// 2. At most one Watch call is out, and only over a connection.
// 3. An endpoint that is connected and has no health service, or none for modules, serves: a module needs only Process.
// 4. After `close` nothing is told.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type ChannelInterface, status as Code, connectivityState, Metadata, type StatusObject } from '@grpc/grpc-js';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health_pb.js';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Module } from '../../proto/gen/weir/module/v1/module_pb.js';

const path = '/grpc.health.v1.Health/Watch';
const request = Buffer.from(
  toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: Module.typeName })),
);

/** Milliseconds without an answer to a connect after which an endpoint counts as unreachable; the connect goes on. */
const connectTimeoutMs = 3_000;

/** Milliseconds before a Watch that broke over a live connection is made again: the first pause, doubled up to the longest. */
const firstPauseMs = 100;
const longestPauseMs = 5_000;

export interface HealthWatchOptions {
  readonly channel: ChannelInterface;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly changed: (health: Health) => void;
}

export class HealthWatch {
  readonly #options: HealthWatchOptions;
  #health = Health.UNKNOWN;
  #connected = false;
  #closed = false;
  #failures = 0;
  #call: WatchCall | undefined;
  #connectTimer: Timer | undefined;
  #pauseTimer: Timer | undefined;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
  }

  /** Connects and watches until closed. */
  start(): void {
    this.#observe();
  }

  close(): void {
    this.#closed = true;
    this.#stopAsking();
    this.#connectTimer?.cancel();
  }

  #observe(): void {
    if (this.#closed) return;
    const { channel } = this.#options;
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.SHUTDOWN) return;
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#observe());
    if (state === connectivityState.READY) this.#connectionUp();
    else this.#connectionDown(state);
  }

  #connectionUp(): void {
    if (this.#connected) return;
    this.#connected = true;
    this.#connectTimer?.cancel();
    this.#connectTimer = undefined;
    this.#failures = 0;
    this.#tell(Health.UNKNOWN);
    this.#ask();
  }

  #connectionDown(state: connectivityState): void {
    if (this.#connected) {
      this.#connected = false;
      this.#stopAsking();
      this.#tell(Health.UNKNOWN);
    }
    if (state === connectivityState.TRANSIENT_FAILURE) this.#tell(Health.UNREACHABLE);
    // gRPC has no time limit of its own for a connect that nobody answers.
    this.#connectTimer ??= this.#options.clock.after(connectTimeoutMs, () => this.#tell(Health.UNREACHABLE));
  }

  #ask(): void {
    const call = new WatchCall(this.#options.channel, {
      status: (status) => {
        this.#failures = 0;
        this.#tell(healthOf(status));
      },
      ended: (code) => {
        this.#call = undefined;
        if (code === Code.UNIMPLEMENTED || code === Code.NOT_FOUND) this.#tell(Health.SERVING);
        else this.#askAgain();
      },
    });
    this.#call = call;
    call.start();
  }

  /** What it said last stands meanwhile: a broken health service is no broken module. */
  #askAgain(): void {
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures++, 16));
    this.#pauseTimer = this.#options.clock.after(pauseMs * (0.5 + this.#options.random() / 2), () => {
      if (this.#connected) this.#ask();
    });
  }

  #stopAsking(): void {
    this.#pauseTimer?.cancel();
    this.#call?.cancel();
    this.#call = undefined;
  }

  #tell(health: Health): void {
    if (this.#closed || health === this.#health) return;
    this.#health = health;
    this.#options.changed(health);
  }
}

function healthOf(status: ServingStatus): Health {
  return status === ServingStatus.SERVING || status === ServingStatus.SERVICE_UNKNOWN
    ? Health.SERVING
    : Health.NOT_SERVING;
}

interface WatchListener {
  status(status: ServingStatus): void;
  /** Once, unless cancelled before. */
  ended(code: Code): void;
}

class WatchCall {
  readonly #call: ReturnType<ChannelInterface['createCall']>;
  readonly #listener: WatchListener;
  #over = false;

  constructor(channel: ChannelInterface, listener: WatchListener) {
    this.#call = channel.createCall(path, Number.POSITIVE_INFINITY, undefined, null, undefined);
    this.#listener = listener;
  }

  start(): void {
    this.#call.start(new Metadata(), this);
    this.#call.startRead();
    this.#call.sendMessageWithContext({}, request);
    this.#call.halfClose();
  }

  cancel(): void {
    this.#over = true;
    this.#call.cancelWithStatus(Code.CANCELLED, 'nobody watches any more');
  }

  /** For the channel. */
  onReceiveMetadata(): void {}

  /** For the channel. */
  onReceiveMessage(message: Buffer): void {
    if (this.#over) return;
    const status = decode(message);
    if (status === undefined) {
      this.#call.cancelWithStatus(Code.INTERNAL, 'not a HealthCheckResponse');
      return;
    }
    this.#listener.status(status);
    this.#call.startRead();
  }

  /** For the channel. */
  onReceiveStatus({ code }: StatusObject): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.ended(code);
  }
}

function decode(message: Buffer): ServingStatus | undefined {
  try {
    return fromBinary(HealthCheckResponseSchema, message).status;
  } catch {
    return undefined;
  }
}
