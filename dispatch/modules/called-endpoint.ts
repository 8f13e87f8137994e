// An endpoint as its module calls it: where it is, what was said of it, and how its last calls went.
//
// Owns the port to it, until it has left and no call is out.
// 1. `isFailing` says that its last answers were all failures, and that neither the pause after the last of them is over nor has its
//    health been found serving since.
// 2. After `leave` nothing is sent. The port is closed once, with or after `leave`, when no call is out; or by `close`, whatever is out.

import type { Answer } from '../../flow/event.ts';
import type { Clock, Timer } from '../../platform/clock/clock.ts';
import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Candidate, Standing } from '../core/balancing.ts';
import type { EndpointPort, OpenEndpoint } from './endpoint.ts';
import type { EndpointSetting } from './endpoint-setting.ts';

/** Calls in a row that were not reached or lost before others are preferred: two may be one item that kills whoever works on it. */
const failuresToMark = 3;
/** How long others are preferred, in ms; then one call tells whether it is better. Health usually tells earlier. */
const markedMs = 5_000;

export interface CalledEndpointOptions {
  readonly setting: EndpointSetting;
  readonly isFar: boolean;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly open: OpenEndpoint;
  /** Its health, or its being preferred, has changed by itself. */
  readonly changed: () => void;
}

export class CalledEndpoint implements Candidate, Standing {
  readonly setting: EndpointSetting;
  readonly isFar: boolean;
  readonly #options: CalledEndpointOptions;
  readonly #port: EndpointPort;
  #failures = 0;
  #mark: Timer | undefined;
  #isLeaving = false;
  #isClosed = false;

  constructor(options: CalledEndpointOptions) {
    const { setting, isFar, clock, random, open } = options;
    this.setting = setting;
    this.isFar = isFar;
    this.#options = options;
    const { address, concurrency } = setting;
    this.#port = open({ address, concurrency, clock, random, healthChanged: () => this.#healthChanged() });
  }

  get address(): string {
    return this.#port.address;
  }

  get health(): Health {
    return this.#port.health;
  }

  get inFlight(): number {
    return this.#port.inFlight;
  }

  get concurrency(): number {
    return this.#port.concurrency;
  }

  get weight(): number {
    return this.setting.weight;
  }

  get isFailing(): boolean {
    return this.#mark !== undefined;
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** It has left and no call is out. */
  get isGone(): boolean {
    return this.#isClosed;
  }

  /** As `EndpointPort.send`. */
  send(request: Buffer, rowkey: Uint8Array, timeoutMs: number, answered: (answer: Answer) => void): () => void {
    if (this.#isLeaving) throw new Error(`invariant 2: ${this.address} has left`);
    const cancel = this.#port.send(request, rowkey, timeoutMs, (answer) => {
      this.#heard(answer.ending);
      this.#closeWhenDone();
      answered(answer);
    });
    return () => {
      cancel();
      this.#closeWhenDone();
    };
  }

  /** Takes no new calls; closes when those that are out are done. */
  leave(): void {
    this.#isLeaving = true;
    this.#closeWhenDone();
  }

  close(): void {
    this.#isLeaving = true;
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unmark();
    this.#port.close();
  }

  #closeWhenDone(): void {
    if (this.#isLeaving && this.#port.inFlight === 0) this.close();
  }

  #heard(ending: Ending): void {
    if (ending !== Ending.UNREACHABLE && ending !== Ending.LOST) {
      this.#failures = 0;
      this.#unmark();
      return;
    }
    this.#failures++;
    if (this.#failures < failuresToMark || this.#isLeaving) return;
    this.#unmark();
    this.#mark = this.#options.clock.after(markedMs, () => {
      this.#mark = undefined;
      // The next failure marks it again.
      this.#failures = failuresToMark - 1;
      this.#options.changed();
    });
  }

  #healthChanged(): void {
    if (this.#port.health === Health.SERVING) {
      this.#failures = 0;
      this.#unmark();
    }
    if (!this.#isClosed) this.#options.changed();
  }

  #unmark(): void {
    this.#mark?.cancel();
    this.#mark = undefined;
  }
}
