// One spout: finds the runs of its shards that need attention, and offers them to the dispatches it is linked to.
//
// Owns the loops, and the links while they are open.
//
// Invariants:
//   S1  Nothing is offered or promoted of a shard that isn't ours now, and nothing at all while membership can't say that the others
//       see us: they may have begun. What we know and our links stay, and we go on when it can.

import type { Member } from '../platform/coordination/membership.ts';
import type { Channel } from '../platform/rpc/channel.ts';
import type { FromDispatch, FromSpout, HoldAnswer } from '../proto/gen/weir/feed/v1/feed_pb.js';
import type { RunId } from '../store/run-name.ts';
import type { Verdict } from './core/offers.ts';
import { type DispatchIdentity, DispatchLink } from './dispatch-link.ts';
import { DispatchLinks } from './dispatch-links.ts';
import { InboxWatch } from './inbox-watch.ts';
import { LostHolders } from './lost-holders.ts';
import { Offering } from './offering.ts';
import type { SpoutPorts } from './ports.ts';
import { ReadySource } from './ready-source.ts';
import { ScanLoop } from './scan-loop.ts';
import { type SpoutSettings, spoutSettings } from './settings.ts';
import { ShardAccess } from './shard-access.ts';
import { ShardWatch } from './shard-watch.ts';
import { TimerPromoter } from './timer-promoter.ts';

/** What finds work beside the ready entries takes a fifth of the time at most, however many entries it has to walk over. */
const sideRest = 4;

export class Spout {
  readonly #self: Member;
  readonly #ports: SpoutPorts;
  readonly #access: ShardAccess;
  readonly #watch: ShardWatch;
  readonly #links: DispatchLinks;
  readonly #offering: Offering;
  readonly #ready: ReadySource;
  readonly #timers: TimerPromoter;
  readonly #leases: LostHolders;
  readonly #inbox: InboxWatch;
  readonly #loops: { readonly ready: ScanLoop; readonly others: readonly ScanLoop[] };
  #offersInVain = 0;
  #stopped = false;

  /** Throws SpoutSettingsError. Settings that aren't given have their defaults. */
  constructor(self: Member, ports: SpoutPorts, settings: Partial<SpoutSettings> = {}) {
    const all = spoutSettings(settings);
    this.#self = self;
    this.#ports = ports;
    this.#access = new ShardAccess(ports, all);
    this.#watch = new ShardWatch(self, ports, all, {
      shardsChanged: (own) => this.#shardsChanged(own),
      becameSafe: () => this.#wakeAll(),
    });
    this.#links = new DispatchLinks(ports.random);
    this.#offering = new Offering(ports, all, this.#access, this.#links);
    this.#ready = new ReadySource(ports, all, this.#access, this.#links, this.#offering);
    this.#timers = new TimerPromoter(ports, all, this.#access, this.#offering);
    this.#leases = new LostHolders(ports, all, this.#access, this.#links, this.#offering);
    this.#inbox = new InboxWatch(ports, all, this.#access, this.#links, this.#offering);
    this.#loops = this.#makeLoops(all);
    this.#timers.onPromoted = () => this.#loops.ready.wake();
    this.#offering.onUrgent = () => this.#loops.ready.wake();
  }

  /** Calls of the store that failed since the start. */
  get storeErrors(): number {
    return this.#access.errors;
  }

  /** The shards that this spout scans, ascending. */
  get shards(): readonly number[] {
    return this.#access.own;
  }

  /** How many of them another spout scans too, because one of the two comes and goes. */
  get sharedShards(): number {
    return this.#watch.shared;
  }

  /**
   * Offers to which a dispatch said that it knew the run, or that there was nothing to take. What two spouts offer shows here: while
   * a shard changes hands, or is shared. So do reads that were old and answers that came late: some are always there.
   */
  get offersInVain(): number {
    return this.#offersInVain;
  }

  /** Opens the link to one dispatch, with Hello. The spout closes the channel when it stops. */
  connect(dispatch: DispatchIdentity, channel: Channel<FromSpout, FromDispatch>): void {
    if (this.#stopped) return channel.close();
    const link = new DispatchLink(dispatch, channel, this.#ports.store.shards, {
      credited: (link) => this.#credited(link),
      offerAnswered: (link, run, verdict) => this.#offerAnswered(link, run, verdict),
      holdAnswered: (link, answer) => this.#holdAnswered(link, answer),
      closed: (link) => this.#closed(link),
    });
    this.#links.add(link);
    link.begin(this.#self);
    link.tellBacklog(this.#ready.levels);
    this.#wakeAll();
  }

  /** Joins the spouts and begins to scan. Called once. */
  async start(): Promise<void> {
    const { membership } = this.#ports;
    await membership.join(this.#self);
    if (this.#stopped) return membership.leave(this.#self);
    this.#watch.start();
    for (const loop of [this.#loops.ready, ...this.#loops.others]) loop.start();
  }

  /** Offers nothing more, ends its links and leaves. Resolves when no scan is under way. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#watch.stop();
    this.#access.stop();
    this.#offering.clear();
    this.#links.close();
    await Promise.all([this.#loops.ready, ...this.#loops.others].map((loop) => loop.stop()));
    await this.#ports.membership.leave(this.#self);
  }

  #makeLoops(settings: SpoutSettings): { ready: ScanLoop; others: ScanLoop[] } {
    const { clock, onError } = this.#ports;
    const loop = (doing: string, restPerWork: number, pass: () => Promise<number>) =>
      new ScanLoop(clock, { doing, pass, restPerWork, afterErrorMs: settings.maxBackoffMs, onError });
    const expire = async () => {
      this.#offering.expire();
      return settings.rescanMs;
    };
    return {
      ready: loop('offering ready runs', 0, () => this.#ready.pass()),
      others: [
        loop('promoting timers', sideRest, () => this.#timers.pass()),
        loop('looking after leases', sideRest, () => this.#leases.pass()),
        loop('looking after inboxes', sideRest, () => this.#inbox.pass()),
        loop('expiring offers', sideRest, expire),
      ],
    };
  }

  #shardsChanged(own: readonly number[]): void {
    this.#access.own = own;
    this.#ready.restart();
    this.#leases.ownershipChanged();
    this.#wakeAll();
  }

  #credited(link: DispatchLink): void {
    if (link.freeRuns > 0 && this.#ready.isWaiting) this.#loops.ready.wake();
  }

  #offerAnswered(link: DispatchLink, run: RunId, verdict: Verdict): void {
    if (verdict === 'known' || verdict === 'gone') this.#offersInVain++;
    this.#offering.answered(link, run, verdict);
  }

  #holdAnswered(link: DispatchLink, { questionId, holds }: HoldAnswer): void {
    this.#leases.answered(link, Number(questionId), holds);
  }

  #closed(link: DispatchLink): void {
    this.#links.remove(link);
    this.#offering.forgetLink(link);
    // What it was offered waits again.
    this.#ready.restart();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const loop of [this.#loops.ready, ...this.#loops.others]) loop.wake();
  }
}
