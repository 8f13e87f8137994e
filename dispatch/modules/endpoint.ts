// One process of a module, at one address.
//
// Owns its channel and the count of calls on their way.
// 1. `inFlight` is the number of exchanges that were started and neither ended nor cancelled; it never exceeds `concurrency`.
// 2. A place is free before whoever held it is told.

import type { Channel } from '@grpc/grpc-js';
import type { Answer } from '../../flow/event.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import type { Candidate } from '../core/balancing.ts';
import type { Address } from './address.ts';
import { openChannel } from './channel.ts';
import { Exchange } from './exchange.ts';
import { HealthWatch } from './health.ts';

/** An endpoint as its module calls it: over gRPC here, simulated elsewhere. */
export interface EndpointPort extends Candidate {
  /** `IP:port` */
  readonly address: string;
  /** Sends a request and tells its answer, later and once. Answers the cancel, after which nothing is told. */
  send(request: Buffer, rowkey: Uint8Array, timeoutMs: number, answered: (answer: Answer) => void): () => void;
  close(): void;
}

export type OpenEndpoint = (options: EndpointOptions) => EndpointPort;

export interface EndpointOptions {
  readonly address: Address;
  /** Calls in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly healthChanged: () => void;
}

export class Endpoint implements EndpointPort {
  readonly address: string;
  readonly concurrency: number;
  readonly #channel: Channel;
  readonly #watch: HealthWatch;
  #health = Health.UNKNOWN;
  #inFlight = 0;

  constructor({ address, concurrency, clock, random, healthChanged }: EndpointOptions) {
    this.address = address.text;
    this.concurrency = concurrency;
    this.#channel = openChannel(address.target);
    this.#watch = new HealthWatch({
      channel: this.#channel,
      clock,
      random,
      changed: (health) => {
        this.#health = health;
        healthChanged();
      },
    });
    this.#watch.start();
  }

  get health(): Health {
    return this.#health;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  send(request: Buffer, rowkey: Uint8Array, timeoutMs: number, answered: (answer: Answer) => void): () => void {
    if (this.#inFlight >= this.concurrency) throw new Error(`invariant 1: ${this.address} has no free place`);
    this.#inFlight++;
    let out = true;
    const exchange = new Exchange(this.#channel, rowkey, (answer) => {
      out = false;
      this.#inFlight--;
      answered(answer);
    });
    exchange.start(request, timeoutMs);
    return () => {
      if (!out) return;
      out = false;
      this.#inFlight--;
      exchange.cancel();
    };
  }

  close(): void {
    this.#watch.close();
    this.#channel.close();
  }
}
