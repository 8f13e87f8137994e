// Links between spouts and dispatches: messages arrive in order, after a while, or not at all.

import type { Channel } from '../../../platform/rpc/channel.ts';
import type { ProcessClock } from './clock.ts';
import type { Cuts } from './cuts.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

export interface Network {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly scheduling: Random;
  readonly cuts: Cuts;
}

/** One end of a link. */
export interface Party {
  readonly process: string;
  readonly clock: ProcessClock;
}

/** Longest time that a message is on its way, in ms: longer than an offer is waited for. */
const maxDelayMs = 20_000;

export interface Link<Left, Right> {
  readonly left: Channel<Left, Right>;
  readonly right: Channel<Right, Left>;
  /** The network breaks it: both ends learn of that in their own time. */
  sever(): void;
  readonly open: boolean;
}

/** A link between two processes, named for the record. The dead receive nothing and send nothing. */
export function link<Left, Right>(
  network: Network,
  name: string,
  leftParty: Party,
  rightParty: Party,
): Link<Left, Right> {
  const left = new End<Left, Right>(network, name, leftParty);
  const right = new End<Right, Left>(network, name, rightParty);
  left.peer = right;
  right.peer = left;
  return {
    left,
    right,
    sever() {
      left.lose();
      right.lose();
    },
    get open() {
      return left.isOpen && right.isOpen;
    },
  };
}

class End<Outgoing, Incoming> implements Channel<Outgoing, Incoming> {
  peer: End<Incoming, Outgoing> | undefined;
  isOpen = true;
  readonly #network: Network;
  readonly #name: string;
  readonly #process: string;
  readonly #clock: ProcessClock;
  #listener: ((message: Incoming) => void) | undefined;
  #closed: (() => void) | undefined;
  readonly #early: Incoming[] = [];
  /** What was sent later doesn't arrive before this. */
  #lastArrivalMs = 0;

  constructor(network: Network, name: string, { process, clock }: Party) {
    this.#network = network;
    this.#name = name;
    this.#process = process;
    this.#clock = clock;
  }

  send(message: Outgoing): void {
    const { faults, scheduling, time, cuts } = this.#network;
    const { peer } = this;
    if (!this.isOpen || !peer || cuts.isCut(this.#process, peer.#process)) return;
    if (faults.strikes('lost message', this.#name)) return;
    const isDelayed = faults.strikes('delayed message', this.#name);
    const takesMs = isDelayed ? scheduling.between(500, maxDelayMs) : scheduling.between(1, 20);
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, time.elapsedMs + takesMs);
    peer.#clock.after(this.#lastArrivalMs - time.elapsedMs, () => peer.#arrive(message));
  }

  listen(listener: (message: Incoming) => void): void {
    this.#listener = listener;
    for (const message of this.#early.splice(0)) this.#clock.soon(() => this.#arrive(message));
  }

  onClose(listener: () => void): void {
    this.#closed = listener;
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { peer } = this;
    if (peer) peer.#clock.after(this.#network.scheduling.between(1, 20), () => peer.#ended());
  }

  /** The connection is gone; the end notices at once, or when its keepalive does. */
  lose(): void {
    const { scheduling } = this.#network;
    this.#clock.after(scheduling.between(1, scheduling.chance(0.5) ? 20 : 10_000), () => this.#ended());
  }

  #arrive(message: Incoming): void {
    if (!this.isOpen) return;
    if (this.#listener) this.#listener(message);
    else this.#early.push(message);
  }

  #ended(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#closed?.();
  }
}
