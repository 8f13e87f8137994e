// Makes sleeping runs ready again when their time has come.

import type { IndexHit } from '../store/port.ts';
import type { Offering } from './offering.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';
import type { ShardAccess } from './shard-access.ts';

/** Runs promoted in one write: small beside what one transaction of a store takes. */
const promoteBatch = 100;

export class TimerPromoter {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #access: ShardAccess;
  readonly #offering: Offering;
  /** Called when runs became ready. */
  onPromoted: () => void = () => {};

  constructor(ports: SpoutPorts, settings: SpoutSettings, access: ShardAccess, offering: Offering) {
    this.#ports = ports;
    this.#settings = settings;
    this.#access = access;
    this.#offering = offering;
  }

  /** Answers the pause until the next pass, in ms. */
  async pass(): Promise<number> {
    for (const shard of this.#access.own) {
      await this.#access.walk(shard, 'timer', this.#ports.clock.nowMs(), (hits) => this.#visit(shard, hits));
    }
    return this.#settings.promoteEveryMs;
  }

  async #visit(shard: number, hits: readonly IndexHit[]): Promise<void> {
    // Whoever takes over from us promotes them.
    if (!this.#ports.membership.isSafe()) return;
    const sleeping = hits.filter(({ ready }) => !ready);
    for (let begin = 0; begin < sleeping.length; begin += promoteBatch) {
      const batch = sleeping.slice(begin, begin + promoteBatch);
      const promoted = await this.#access.attempt(shard, 'promoting timers', () =>
        this.#ports.store.promote(shard, batch),
      );
      if (promoted && promoted.answer > 0) this.onPromoted();
    }
    // A ready run whose deadline fell due must not wait for its turn to end. One that finds no place is met again by the next
    // pass; the walk goes on, since promoting needs no place.
    for (const hit of hits) if (hit.ready) this.#offering.urge(hit);
  }
}
