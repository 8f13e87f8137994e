// Offers what is ready, best levels first across all our shards, and tells dispatches which levels wait.
//
// Owns the plan of the pass under way and what was told of the backlog.
//
// Invariants:
//   Y1  Ready runs are offered in the order of the plan. One that no dispatch has room for stops those after it, so that large
//       items aren't passed by for ever; any dispatch that holds nothing has room for any run, so the stop has an end.
//   Y2  A plan is at most `rescanMs` old when a run of it is offered, besides the time of one read.
//   Y3  The backlog is told when it changes, once for each plan that found something, and at least every `rescanMs`: a dispatch
//       counts a level as waiting until it is told otherwise, and messages get lost.

import type { IndexHit, ScanPosition } from '../store/port.ts';
import { ScanPlan } from './core/scan-plan.ts';
import type { DispatchLinks } from './dispatch-links.ts';
import type { Offering } from './offering.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';
import type { ShardAccess } from './shard-access.ts';

interface Pass {
  readonly plan: ScanPlan<IndexHit, ScanPosition>;
  readonly beganMs: number;
  offered: boolean;
  told: boolean;
  /** It came to its end before. */
  ended: boolean;
}

export class ReadySource {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #access: ShardAccess;
  readonly #links: DispatchLinks;
  readonly #offering: Offering;
  #pass: Pass | undefined;
  #told: { readonly levels: number; readonly atMs: number } | undefined;

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

  /** Something waits for credits. */
  get isWaiting(): boolean {
    return this.#offering.urgent > 0 || (this.#pass !== undefined && !this.#pass.plan.finished);
  }

  /** Bit n - 1 is set when level n waits. */
  get levels(): number {
    return (this.#pass?.plan.waiting ?? 0) | this.#offering.waiting;
  }

  /** Our shards changed: what was read of the old ones is dropped. */
  restart(): void {
    this.#pass = undefined;
  }

  /** Offers until the credits are gone or nothing is left. Answers the pause until the next pass, in ms. */
  async pass(): Promise<number> {
    const { rescanMs, scanAgainMs, scanEveryMs } = this.#settings;
    while (this.#links.size > 0) {
      const pass = this.#fresh();
      await this.#read(pass);
      const haveRoom = this.#offer(pass);
      if (!haveRoom || pass.plan.finished) this.#tell(pass);
      if (!haveRoom) return Math.max(scanAgainMs, rescanMs - this.#ageMs(pass));
      if (!pass.plan.finished) continue;
      // Called again so soon after its end, there is a reason to look again soon.
      const isBusy = pass.offered || pass.ended;
      pass.ended = true;
      return isBusy ? scanAgainMs : this.#access.jittered(scanEveryMs);
    }
    return rescanMs;
  }

  #fresh(): Pass {
    const pass = this.#pass;
    // Credits come many times in a moment: that alone makes no new plan.
    const lastsMs = pass?.plan.finished ? this.#settings.scanAgainMs : this.#settings.rescanMs;
    if (pass && this.#ageMs(pass) < lastsMs) return pass;
    const beganMs = this.#ports.clock.monotonicMs();
    this.#pass = { plan: new ScanPlan(this.#access.own), beganMs, offered: false, told: false, ended: false };
    return this.#pass;
  }

  async #read({ plan }: Pass): Promise<void> {
    for (let needs = plan.needs(); needs.length > 0; needs = plan.needs()) {
      const some = needs.slice(0, this.#settings.maxScans);
      const pages = await Promise.all(
        some.map(({ shard, after }) => this.#access.page(shard, 'ready', after === undefined ? {} : { after })),
      );
      for (const [index, { shard }] of some.entries()) plan.add(shard, pages[index]?.hits ?? [], pages[index]?.next);
    }
  }

  /** Answers false when the credits are gone. */
  #offer(pass: Pass): boolean {
    if (!this.#offering.offerUrgent()) return false;
    for (let hit = pass.plan.first(); hit; hit = pass.plan.first()) {
      const offered = this.#offering.offer(hit);
      if (offered === 'no room') return false;
      if (offered === 'sent') pass.offered = true;
      pass.plan.take();
    }
    return true;
  }

  #tell(pass: Pass): void {
    const levels = pass.plan.waiting | this.#offering.waiting;
    const nowMs = this.#ports.clock.monotonicMs();
    const isDue =
      this.#told === undefined || this.#told.levels !== levels || nowMs - this.#told.atMs >= this.#settings.rescanMs;
    if (!isDue && (pass.told || pass.plan.found === 0)) return;
    pass.told = true;
    this.#told = { levels, atMs: nowMs };
    this.#links.tellBacklog(levels);
  }

  #ageMs(pass: Pass): number {
    return this.#ports.clock.monotonicMs() - pass.beganMs;
  }
}
