// Offers runs to dispatches, against their credits.
//
// Owns the memory of offers and the line of urgent runs.
//
// Invariants:
//   F1  An offer goes out only to a link whose credits allow it, and only when the run doesn't rest (core/offers.ts).
//   F2  Nothing is offered of a shard that isn't ours, and nothing at all while others may be taking over from us.
//   F3  The urgent ones go before all others, in the order in which they came. At most `maxUrgent` wait.

import type { IndexHit } from '../store/port.ts';
import { type RunId, shardOf } from '../store/run-name.ts';
import { Offers, type Verdict } from './core/offers.ts';
import type { DispatchLink, SentOffer } from './dispatch-link.ts';
import type { DispatchLinks } from './dispatch-links.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';
import type { ShardAccess } from './shard-access.ts';

/** `resting`: it was offered a moment ago, or isn't ours to offer any more. */
export type Offered = 'sent' | 'resting' | 'no room';

export class Offering {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #access: Pick<ShardAccess, 'isOwn'>;
  readonly #links: DispatchLinks;
  readonly #offers: Offers<SentOffer>;
  readonly #urgent = new Map<RunId, IndexHit>();
  /** Called when something urgent begins to wait for credits. */
  onUrgent: () => void = () => {};

  constructor(ports: SpoutPorts, settings: SpoutSettings, access: Pick<ShardAccess, 'isOwn'>, links: DispatchLinks) {
    this.#ports = ports;
    this.#settings = settings;
    this.#access = access;
    this.#links = links;
    this.#offers = new Offers(settings);
  }

  /** Runs that wait ahead of the ready ones. */
  get urgent(): number {
    return this.#urgent.size;
  }

  /** Bit n - 1 is set when an urgent run of level n waits. */
  get waiting(): number {
    let bits = 0;
    for (const { control } of this.#urgent.values()) bits |= 1 << (control.level - 1);
    return bits;
  }

  offer(hit: IndexHit): Offered {
    const { clock, membership, store } = this.#ports;
    if (!membership.isSafe()) return 'no room';
    const nowMs = clock.monotonicMs();
    if (!this.#access.isOwn(shardOf(hit.run, store.shards))) return 'resting';
    if (!this.#offers.mayOffer(hit.run, hit.fence, nowMs)) return 'resting';
    const link = this.#links.roomiest(hit);
    if (!link) return 'no room';
    const dropped = this.#offers.sent(hit.run, hit.fence, link.offer(hit), nowMs);
    for (const sent of dropped) sent.link.giveBack(sent);
    return 'sent';
  }

  /** Offers a run ahead of the ready ones, now or when there are credits. False: too many wait; come again. */
  urge(hit: IndexHit): boolean {
    const isFirst = this.#urgent.size === 0;
    const rests = !this.#offers.mayOffer(hit.run, hit.fence, this.#ports.clock.monotonicMs());
    if (rests || (isFirst && this.offer(hit) !== 'no room')) return true;
    if (this.#urgent.size >= this.#settings.maxUrgent && !this.#urgent.has(hit.run)) return false;
    this.#urgent.set(hit.run, hit);
    if (isFirst) this.onUrgent();
    return true;
  }

  /** Offers the urgent runs as far as the credits go. Answers whether none is left waiting. */
  offerUrgent(): boolean {
    for (const [run, hit] of this.#urgent) {
      if (this.offer(hit) === 'no room') return false;
      this.#urgent.delete(run);
    }
    return true;
  }

  answered(link: DispatchLink, run: RunId, verdict: Verdict): void {
    this.#offers.answered(run, link, verdict, this.#ports.clock.monotonicMs());
  }

  forgetLink(link: DispatchLink): void {
    this.#offers.forgetLink(link);
  }

  /** Drops what rested long enough, and takes back the credits of what no dispatch has heard of. */
  expire(): void {
    for (const sent of this.#offers.expire(this.#ports.clock.monotonicMs())) sent.link.giveBack(sent);
  }

  /** Drops what waits: this spout offers nothing more. */
  clear(): void {
    this.#urgent.clear();
  }
}
