// Membership with sessions, as a coordination service has it: whoever dies is listed until its session runs out, a session may end
// under a process that lives, and each process has its own view of the list, which is late.
//
// Owns the list, and the views of all incarnations.
//
// Invariants:
//   B1  What left or died never comes back into the list: a new start is another incarnation.
//   B2  A view shows the list as it was at some time, and never an older one later.

import type { Holder } from '../../../platform/coordination/holder.ts';
import type { Member, Membership, Role } from '../../../platform/coordination/membership.ts';
import type { ProcessClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

/** How long a process that died stays listed, in ms. */
export const sessionTimeoutMs = 5_000;
/** Longest time that one stays listed whose session nobody ends, in ms. */
const maxGhostMs = 90_000;
/** Longest time that a view stands still, in ms: longer than a session and the grace after it. */
const maxLateMs = 30_000;
/** Longest time until a process whose session ended has another, in ms: longer than the grace. */
const maxAwayMs = 20_000;

export interface MembershipWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly scheduling: Random;
}

export class SimulatedMembership {
  readonly world: MembershipWorld;
  readonly #list = new Map<string, Member>();
  readonly #views = new Set<View>();
  /** Members that are over. */
  readonly #over = new Set<string>();

  constructor(world: MembershipWorld) {
    this.world = world;
  }

  get listed(): ReadonlyMap<string, Member> {
    return this.#list;
  }

  /** Membership as one incarnation sees it; a dead one hears nothing, a paused one late. */
  handle(incarnation: string, clock: ProcessClock): Membership {
    const view = new View(this, incarnation, clock);
    this.#views.add(view);
    return view;
  }

  join(members: readonly Member[]): void {
    let isChanged = false;
    for (const member of members) {
      if (this.#over.has(memberKey(member)) || this.#list.has(memberKey(member))) continue;
      this.#list.set(memberKey(member), { ...member });
      isChanged = true;
    }
    if (isChanged) this.#changed();
  }

  /** It goes by itself. */
  leave(member: Member): void {
    this.#over.add(memberKey(member));
    this.remove([member]);
  }

  remove(members: readonly Member[]): void {
    let isChanged = false;
    for (const member of members) isChanged = this.#list.delete(memberKey(member)) || isChanged;
    if (isChanged) this.#changed();
  }

  /** The process of these members is over: its session runs out, unless nobody notices. */
  ended(members: readonly Member[]): void {
    const { time, faults, scheduling } = this.world;
    for (const member of members) this.#over.add(memberKey(member));
    const isGhost = members.some(({ incarnation }) => faults.strikes('ghost member', incarnation));
    const listedMs = isGhost ? scheduling.between(sessionTimeoutMs, maxGhostMs) : sessionTimeoutMs;
    time.after(listedMs, () => this.remove(members));
  }

  /** The process of these members is silent for a while: when that takes too long its session ends, and it makes another later. */
  silent(members: readonly Member[], durationMs: number): void {
    if (durationMs <= sessionTimeoutMs) return;
    this.world.time.after(sessionTimeoutMs, () => this.remove(members));
    this.world.time.after(durationMs, () => this.join(members));
  }

  /** The session of a process that works on ends. It makes another after a while. */
  expire(members: readonly Member[]): void {
    this.remove(members);
    this.world.time.after(this.world.scheduling.between(50, maxAwayMs), () => this.join(members));
  }

  /** The list is lost. Whoever lives comes back, each in its own time. */
  loseAll(): void {
    const byIncarnation = Map.groupBy(this.#list.values(), ({ incarnation }) => incarnation);
    for (const members of byIncarnation.values()) this.expire(members);
  }

  /** Nothing is late any more, and who is over isn't listed. Whoever lives is to join again. */
  heal(): void {
    this.remove([...this.#list.values()].filter((member) => this.#over.has(memberKey(member))));
    for (const view of this.#views) view.catchUp();
  }

  #changed(): void {
    for (const view of this.#views) {
      if (view.isOver) this.#views.delete(view);
      else view.changed();
    }
  }
}

class View implements Membership {
  readonly #all: SimulatedMembership;
  readonly #incarnation: string;
  readonly #clock: ProcessClock;
  readonly #listeners = new Set<() => void>();
  #members: ReadonlyMap<string, Member> = new Map();
  /** When each holder that was seen once was missed since; undefined while it is there. Monotonic time of the process. */
  readonly #missedMs = new Map<string, number | undefined>();
  #standsUntilMs = 0;

  constructor(all: SimulatedMembership, incarnation: string, clock: ProcessClock) {
    this.#all = all;
    this.#incarnation = incarnation;
    this.#clock = clock;
    this.#look();
  }

  get isOver(): boolean {
    return !this.#clock.running;
  }

  join(member: Member): Promise<void> {
    return this.#ask(() => this.#all.join([member]));
  }

  leave(member: Member): Promise<void> {
    return this.#ask(() => this.#all.leave(member));
  }

  /** Spouts and dispatches are judged at their worst: as if they never learned that others may take over. */
  isSafe(): boolean {
    return true;
  }

  members(role: Role): readonly Member[] {
    return [...this.#members.values()].filter((member) => member.role === role);
  }

  watch(listener: () => void): () => void {
    const watcher = () => listener();
    this.#listeners.add(watcher);
    return () => this.#listeners.delete(watcher);
  }

  /** Of a holder that it has never seen a view knows only that it wasn't there since the view began. */
  goneForMs(holder: Holder): number {
    const key = holderKey(holder);
    const missedMs = this.#missedMs.has(key) ? this.#missedMs.get(key) : 0;
    return missedMs === undefined ? 0 : this.#clock.monotonicMs() - missedMs;
  }

  /** The list is another one. */
  changed(): void {
    const { scheduling, faults, time } = this.#all.world;
    if (faults.strikes('late view', this.#incarnation)) {
      this.#standsUntilMs = time.elapsedMs + scheduling.between(500, maxLateMs);
    }
    const waitMs = Math.max(0, this.#standsUntilMs - time.elapsedMs);
    this.#clock.after(waitMs + scheduling.between(1, 20), () => {
      // The view stands still since: the look at the end of that shows this change too.
      if (time.elapsedMs >= this.#standsUntilMs) this.#look();
    });
  }

  catchUp(): void {
    this.#standsUntilMs = 0;
    this.#clock.soon(() => this.#look());
  }

  #look(): void {
    this.#members = new Map(this.#all.listed);
    const there = new Set([...this.#members.values()].map(holderKey));
    for (const [key, missedMs] of this.#missedMs) {
      if (missedMs === undefined && !there.has(key)) this.#missedMs.set(key, this.#clock.monotonicMs());
    }
    for (const key of there) this.#missedMs.set(key, undefined);
    for (const listener of [...this.#listeners]) listener();
  }

  #ask(act: () => void): Promise<void> {
    const { time, scheduling } = this.#all.world;
    return new Promise((resolve) => {
      time.after(scheduling.between(1, 5), () => {
        act();
        this.#clock.after(scheduling.between(1, 5), resolve);
      });
    });
  }
}

function holderKey({ processId, incarnation }: Holder): string {
  return `${processId} ${incarnation}`;
}

function memberKey({ role, processId, incarnation }: Member): string {
  return `${role} ${processId} ${incarnation}`;
}
