// Which shards this spout scans now.
//
// Owns the division of the shards among the members, and through it who counts and what waits to be handed over.
//
// Shards are divided twice: among all members, and among the steady ones. Who comes and goes again and again is given its shards each
// time, by the first division; but those that had them keep scanning them too, by the second, so that nothing waits for anybody when it
// goes again. What two scan is offered twice and claimed once.
//
// Invariants:
//   O1  Whatever spouts remember of each other, no shard is without one: they agree on the first division (M2), and its owner
//       scans it.
//   O2  Who isn't in the list scans nothing: the others count it as gone.

import { HandOver } from './hand-over.ts';
import { divide, type RingMember } from './ring.ts';
import { RingMembers, type RingMembersSettings } from './ring-members.ts';

export interface OwnershipSettings extends RingMembersSettings {
  /** See SpoutSettings. */
  readonly handOverMs: number;
}

/** A spout as membership shows it. */
export interface ListedSpout extends RingMember {
  readonly incarnation: string;
}

interface Division {
  /** Owners by shard. */
  readonly all: readonly string[];
  readonly steady: readonly string[];
}

export class ShardOwnership {
  readonly #self: ListedSpout;
  readonly #shards: number;
  readonly #members: RingMembers;
  readonly #handOver: HandOver;
  #division: Division = { all: [], steady: [] };
  /** Of the members that the division was made among: what tells whether it is to be made anew. */
  #dividedAmong = '';
  #isListed = false;

  /** `shards`: how many there are. */
  constructor(self: ListedSpout, shards: number, settings: OwnershipSettings) {
    this.#self = self;
    this.#shards = shards;
    this.#members = new RingMembers(settings);
    this.#handOver = new HandOver(settings.handOverMs);
  }

  /** The shards to scan, ascending. */
  get own(): readonly number[] {
    return this.#handOver.ours;
  }

  /** How many of them another spout scans too, so that neither need wait when one of us comes and goes. */
  get shared(): number {
    const { all, steady } = this.#division;
    return this.own.filter((shard) => steady[shard] !== undefined && all[shard] !== steady[shard]).length;
  }

  /** The spouts that membership shows. All times are monotonic, in ms. */
  see(spouts: readonly ListedSpout[], nowMs: number): void {
    const { processId, incarnation } = this.#self;
    const others = new Set(spouts.filter((spout) => spout.incarnation !== incarnation).map((spout) => spout.processId));
    this.#isListed = spouts.some((spout) => spout.incarnation === incarnation);
    // An earlier incarnation that is still listed keeps our place: the others see no change.
    this.#members.see(spouts, (member) => member.processId !== processId || others.has(processId), nowMs);
    this.#divide(nowMs);
  }

  /** Brings everything up to now. To be called at `nextMs`. */
  advance(nowMs: number): void {
    this.#members.settle(nowMs);
    this.#divide(nowMs);
    this.#handOver.begin(nowMs);
  }

  /** When `own` may change next if the list stays as it is; undefined: not at all. */
  get nextMs(): number | undefined {
    const times = [this.#members.nextMs, this.#handOver.nextMs].filter((timeMs) => timeMs !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #divide(nowMs: number): void {
    const { all, steady } = this.#members;
    const among = JSON.stringify([this.#isListed, all, steady]);
    if (among === this.#dividedAmong) return;
    this.#dividedAmong = among;
    const before = this.#before();
    const divided = divide(all, this.#shards);
    this.#division = { all: divided, steady: steady.length === all.length ? divided : divide(steady, this.#shards) };
    this.#handOver.change(this.#wanted(), before, (processId) => this.#members.has(processId), nowMs);
  }

  /** Who else was at a shard, by the division that is about to be replaced. */
  #before(): (shard: number) => readonly string[] {
    const { all, steady } = this.#division;
    // Before the first division there was that of those whom we found there.
    const owners = all.length > 0 ? [all, steady] : [divide(this.#members.all, this.#shards)];
    return (shard) => {
      const ids = owners.flatMap((owner) => owner[shard] ?? []);
      return ids.filter((processId) => processId !== this.#self.processId);
    };
  }

  #wanted(): number[] {
    if (!this.#isListed) return [];
    const { all, steady } = this.#division;
    const { processId } = this.#self;
    const wanted: number[] = [];
    for (let shard = 0; shard < this.#shards; shard++) {
      if (all[shard] === processId || steady[shard] === processId) wanted.push(shard);
    }
    return wanted;
  }
}
