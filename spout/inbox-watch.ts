// Looks after outside events that wait: nudges holders, and offers runs that an event concerns (protocol §6).
//
// Owns the memory of when each run was looked after last, and at which fence.
//
// Invariants:
//   N1  A run is nudged, read or offered for its inbox at most every `nudgeEveryMs`; one that was held and let go since is another
//       matter.
//   N2  At most `maxNudges` runs are remembered: the oldest is forgotten for a new one.
//   N3  A held run is never offered for an event, a parked one only for a release or a cancel, and an ending one not at all: nothing
//       can change its outcome, its timer brings it to its end, and only then some events matter.

import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Fence, IndexHit } from '../store/port.ts';
import type { RunId } from '../store/run-name.ts';
import { sameFence } from './core/fence.ts';
import type { DispatchLinks } from './dispatch-links.ts';
import type { Offering } from './offering.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';
import type { ShardAccess } from './shard-access.ts';

export class InboxWatch {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #access: ShardAccess;
  readonly #links: DispatchLinks;
  readonly #offering: Offering;
  /** The oldest first; times are monotonic. */
  readonly #looked = new Map<RunId, { readonly atMs: number; readonly fence: Fence }>();

  constructor(
    ports: SpoutPorts,
    settings: SpoutSettings,
    access: ShardAccess,
    links: DispatchLinks,
    offering: Offering,
  ) {
    this.#ports = ports;
    this.#settings = settings;
    this.#access = access;
    this.#links = links;
    this.#offering = offering;
  }

  /** Answers the pause until the next pass, in ms. */
  async pass(): Promise<number> {
    this.#forget();
    if (this.#links.size > 0) {
      for (const shard of this.#access.own) {
        await this.#access.walk(shard, 'inbox', undefined, async (hits) => {
          for (const hit of hits) await this.#look(shard, hit);
        });
      }
    }
    return this.#access.jittered(this.#settings.inboxEveryMs);
  }

  async #look(shard: number, hit: IndexHit): Promise<void> {
    const last = this.#looked.get(hit.run);
    if (last && (hit.holder || sameFence(last.fence, hit.fence))) return;
    if (await this.#lookAfter(shard, hit)) this.#remember(hit);
  }

  /** Answers false when it found no place for an offer: the next pass tries again. */
  async #lookAfter(shard: number, hit: IndexHit): Promise<boolean> {
    if (hit.holder) {
      this.#links.to(hit.holder)?.nudge(hit.run);
      return true;
    }
    if (hit.state === State.ENDING) return true;
    if (hit.state !== State.PARKED) return this.#offering.urge(hit);
    const inbox = await this.#access.attempt(shard, 'reading an inbox', () => this.#ports.store.inbox(hit.run));
    const wakes = inbox?.answer?.events.some(({ kind }) => kind.case === 'release' || kind.case === 'cancel');
    return wakes !== true || this.#offering.urge(hit);
  }

  #remember({ run, fence }: IndexHit): void {
    this.#looked.delete(run);
    for (const oldest of this.#looked.keys()) {
      if (this.#looked.size < this.#settings.maxNudges) break;
      this.#looked.delete(oldest);
    }
    this.#looked.set(run, { atMs: this.#ports.clock.monotonicMs(), fence });
  }

  #forget(): void {
    const oldestMs = this.#ports.clock.monotonicMs() - this.#settings.nudgeEveryMs;
    for (const [run, { atMs }] of this.#looked) {
      if (atMs > oldestMs) return;
      this.#looked.delete(run);
    }
  }
}
