// Keeps a link from a spout to each dispatch that membership shows.
//
// Owns the attempts to open links; an open link belongs to the spout.
//
// Invariants:
//   F1  To one incarnation of a dispatch there is at most one link, open or waiting to be opened again.
//   F2  A link that has ended is opened again while its dispatch is a member, with growing pauses. One to a dispatch that membership
//       no longer shows is kept while it lives: its answers are worth having.
//   F3  After `stop` nothing is opened.

import type { Clock, Timer } from '../platform/clock/clock.ts';
import type { Member, Membership } from '../platform/coordination/membership.ts';
import type { Spout } from './spout.ts';
import { type FeedChannel, watchedFeed } from './watched-feed.ts';

export interface FeedClientPorts {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The data centre or cloud of the spout: dispatches of others have other stores. */
  readonly unit: string;
  readonly membership: Pick<Membership, 'members' | 'watch'>;
  /** Opens a link to a dispatch at `host:port`; one that can't be reached ends. */
  readonly open: (address: string) => FeedChannel;
}

/** Pause before a link is opened again, in ms: the first, doubled with each failure up to the longest, varied by half. */
const firstPauseMs = 100;
const longestPauseMs = 2_000;

interface Link {
  failures: number;
  /** While it waits to be opened again. */
  timer?: Timer;
}

export class FeedClient {
  readonly #spout: Pick<Spout, 'connect'>;
  readonly #ports: FeedClientPorts;
  readonly #links = new Map<string, Link>();
  #unwatch: () => void = () => {};
  #stopped = false;

  constructor(spout: Pick<Spout, 'connect'>, ports: FeedClientPorts) {
    this.#spout = spout;
    this.#ports = ports;
  }

  start(): void {
    this.#unwatch = this.#ports.membership.watch(() => this.#look());
    this.#look();
  }

  /** Opens no more links. Those that are open are the spout's to end. */
  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    for (const { timer } of this.#links.values()) timer?.cancel();
  }

  #look(): void {
    const members = this.#members();
    const there = new Set(members.map(({ incarnation }) => incarnation));
    for (const [incarnation, { timer }] of this.#links) {
      if (there.has(incarnation) || !timer) continue;
      timer.cancel();
      this.#links.delete(incarnation);
    }
    for (const member of members) {
      if (!this.#links.has(member.incarnation)) this.#open(member, { failures: 0 });
    }
  }

  #members(): readonly Member[] {
    const { membership, unit } = this.#ports;
    return membership.members('dispatch').filter((member) => member.unit === unit);
  }

  #open(member: Member, link: Link): void {
    delete link.timer;
    this.#links.set(member.incarnation, link);
    const openedMs = this.#ports.clock.monotonicMs();
    const channel = this.#ports.open(member.address);
    this.#spout.connect(
      member,
      watchedFeed(channel, this.#ports.clock, () => {
        const wasUseful = this.#ports.clock.monotonicMs() - openedMs > longestPauseMs;
        this.#closed(member, wasUseful ? { failures: 0 } : { failures: link.failures + 1 });
      }),
    );
  }

  #closed(member: Member, link: Link): void {
    const isThere = this.#members().some(({ incarnation }) => incarnation === member.incarnation);
    if (this.#stopped || !isThere) {
      this.#links.delete(member.incarnation);
      return;
    }
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(link.failures, 10));
    link.timer = this.#ports.clock.after(pauseMs * (0.5 + this.#ports.random() / 2), () => this.#open(member, link));
    this.#links.set(member.incarnation, link);
  }
}
