// Follows the members, and says which shards are ours.
//
// Owns the watch of the members and the timer until the next time at which our shards change though the members don't.

import type { Timer } from '../platform/clock/clock.ts';
import type { Member } from '../platform/coordination/membership.ts';
import { ShardOwnership } from './core/ownership.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';

export interface ShardListener {
  /** Our shards are others than before. */
  shardsChanged(own: readonly number[]): void;
  /** We may begin something new again. */
  becameSafe(): void;
}

export class ShardWatch {
  readonly #self: Member;
  readonly #ports: SpoutPorts;
  readonly #ownership: ShardOwnership;
  readonly #listener: ShardListener;
  #own: readonly number[] = [];
  #wasSafe = true;
  #unwatch: () => void = () => {};
  #timer: Timer | undefined;

  constructor(self: Member, ports: SpoutPorts, settings: SpoutSettings, listener: ShardListener) {
    this.#self = self;
    this.#ports = ports;
    this.#ownership = new ShardOwnership(self, ports.store.shards, settings);
    this.#listener = listener;
  }

  /** How many of our shards another spout scans too, because one of us comes and goes. */
  get shared(): number {
    return this.#ownership.shared;
  }

  start(): void {
    this.#unwatch = this.#ports.membership.watch(() => this.#look());
    this.#look();
  }

  /** Nothing changes any more. */
  stop(): void {
    this.#unwatch();
    this.#timer?.cancel();
  }

  #look(): void {
    const { clock, membership } = this.#ports;
    const isSafe = membership.isSafe();
    const becameSafe = isSafe && !this.#wasSafe;
    this.#wasSafe = isSafe;
    // Another unit has a store of its own, and shards of its own with it.
    const spouts = membership.members('spout').filter(({ unit }) => unit === this.#self.unit);
    this.#ownership.see(spouts, clock.monotonicMs());
    this.#tell();
    if (becameSafe) this.#listener.becameSafe();
  }

  #tell(): void {
    const { clock } = this.#ports;
    const nowMs = clock.monotonicMs();
    this.#timer?.cancel();
    const { own, nextMs } = this.#ownership;
    if (nextMs !== undefined) this.#timer = clock.after(Math.max(0, nextMs - nowMs), () => this.#advance());
    if (own.join() === this.#own.join()) return;
    this.#own = own;
    this.#listener.shardsChanged(own);
  }

  #advance(): void {
    this.#ownership.advance(this.#ports.clock.monotonicMs());
    this.#tell();
  }
}
