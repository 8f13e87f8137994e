// A process of the installation: it starts, works, may die at any moment and start again as another incarnation.
//
// Owns everything that dies with an incarnation: its clock, its roles, its ends of links.
//
// Invariants:
//   P1  Once an incarnation's clock has stopped, nothing of it acts: timers, answers, messages and callbacks all come through
//       the clock.

import { Dispatch } from '../../../dispatch/dispatch.ts';
import type { Routing } from '../../../dispatch/driver/ports.ts';
import type { DispatchSettings } from '../../../dispatch/settings.ts';
import type { Member, Membership, Role } from '../../../platform/coordination/membership.ts';
import type { Ids } from '../../../platform/ids/ids.ts';
import type { FromDispatch, FromSpout } from '../../../proto/gen/weir/feed/v1/feed_pb.js';
import type { SpoutSettings } from '../../../spout/settings.ts';
import { Spout } from '../../../spout/spout.ts';
import { ProcessClock, type WallClock } from './clock.ts';
import type { Cuts } from './cuts.ts';
import type { Faults } from './faults.ts';
import type { FlowVersions } from './flow-versions.ts';
import type { History, ProcessHappening } from './history.ts';
import type { SimulatedLocks } from './locks.ts';
import type { SimulatedMembership } from './membership.ts';
import type { SimulatedModules } from './modules.ts';
import { type Link, link } from './network.ts';
import type { Random } from './random.ts';
import type { SimulatedStore } from './store.ts';
import { StoreHandle } from './store-handle.ts';
import type { VirtualTime } from './time.ts';

/** What processes find in their world. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly scheduling: Random;
  readonly faults: Faults;
  readonly history: History;
  readonly cuts: Cuts;
  readonly store: SimulatedStore;
  readonly modules: SimulatedModules;
  readonly membership: SimulatedMembership;
  readonly locks: SimulatedLocks;
  readonly flows: FlowVersions;
  readonly dispatchSettings: Partial<DispatchSettings>;
  readonly spoutSettings: Partial<SpoutSettings>;
  readonly processes: readonly SimulatedProcess[];
}

export interface Incarnation {
  readonly process: string;
  readonly name: string;
  readonly clock: ProcessClock;
  readonly members: readonly Member[];
  readonly membership: Membership;
  readonly dispatch?: Dispatch;
  readonly spout?: Spout;
  /** Of the spout, by the incarnation of the dispatch at the other end. */
  readonly links: Map<string, Link<FromSpout, FromDispatch>>;
}

/** How often a spout looks for dispatches that it has no link to, in ms. */
const connectEveryMs = 500;
/** How long the other end of a link stays silent before it counts as gone, in ms. */
export const keepaliveMs = 10_000;

export class SimulatedProcess {
  readonly name: string;
  readonly #world: Surroundings;
  readonly #roles: readonly Role[];
  readonly #skewMs: number;
  readonly #wall: WallClock;
  #starts = 0;
  #current: Incarnation | undefined;
  #isLeaving = false;

  /** `skewMs`: by how much the wall clock of its machine is ahead. */
  constructor(world: Surroundings, name: string, roles: readonly Role[], skewMs: number) {
    this.#world = world;
    this.name = name;
    this.#roles = roles;
    this.#skewMs = skewMs;
    this.#wall = { aheadMs: skewMs };
  }

  /** Undefined while it is down. */
  get current(): Incarnation | undefined {
    return this.#current;
  }

  /** It stands still, or is about to leave. */
  get isOccupied(): boolean {
    return this.#isLeaving || this.#current?.clock.isPaused === true;
  }

  start(): void {
    if (this.#current) return;
    this.#isLeaving = false;
    const incarnation = this.#incarnation();
    this.#current = incarnation;
    this.#tell('started', incarnation);
    const failed = (error: unknown) => this.#failed(incarnation, error, 'starting');
    incarnation.dispatch?.start().catch(failed);
    incarnation.spout?.start().catch(failed);
    if (incarnation.spout) this.#connectForEver(incarnation, incarnation.spout);
  }

  /** Dies with all that was in its memory. */
  crash(): void {
    const incarnation = this.#current;
    if (!incarnation) return;
    this.#tell('crashed', incarnation);
    this.#end(incarnation);
    this.#world.membership.ended(incarnation.members);
  }

  /** Its wall clock is set by so much; 0 sets it right. */
  setClock(byMs: number): void {
    this.#wall.aheadMs = this.#skewMs + byMs;
  }

  /** Its session ends while it works. */
  loseSession(): void {
    if (this.#current) this.#world.membership.expire(this.#current.members);
  }

  /** Whatever was wrong with it is over. */
  heal(): void {
    this.setClock(0);
    if (this.#current) this.#world.membership.join(this.#current.members);
    else this.start();
  }

  /** Stands still, as in a long collection of garbage or a stopped virtual machine. */
  pause(durationMs: number): void {
    const incarnation = this.#current;
    if (!incarnation || this.isOccupied) return;
    this.#tell('paused', incarnation);
    incarnation.clock.pause(durationMs);
    this.#world.membership.silent(incarnation.members, durationMs);
    if (durationMs > keepaliveMs) this.#world.time.after(keepaliveMs, () => this.#severLinks(incarnation));
  }

  /** Leaves in good order, and calls `stopped` when it has, unless it dies before. */
  stop(stopped: () => void): void {
    const incarnation = this.#current;
    if (!incarnation || this.isOccupied) return;
    this.#isLeaving = true;
    this.#tell('stopping', incarnation);
    Promise.all([incarnation.spout, incarnation.dispatch].map((role) => role?.stop() ?? Promise.resolve())).then(
      () => {
        if (this.#current !== incarnation) return;
        this.#tell('stopped', incarnation);
        this.#end(incarnation);
        stopped();
      },
      (error: unknown) => this.#failed(incarnation, error, 'stopping'),
    );
  }

  #incarnation(): Incarnation {
    const { time, store, modules, locks, flows, scheduling, dispatchSettings, spoutSettings } = this.#world;
    const name = `${this.name}.${++this.#starts}`;
    const clock = new ProcessClock(time, this.#wall);
    const membership = this.#world.membership.handle(name, clock);
    const member = (role: Role): Member => ({
      role,
      processId: this.name,
      incarnation: name,
      address: '',
      unit: '',
      capacity: 1,
    });
    const shared = {
      clock,
      membership,
      store: new StoreHandle(store, { process: this.name, incarnation: name, clock }),
      random: scheduling.next,
      onError: (error: unknown, doing: string) => this.#failed({ name, clock }, error, doing),
    };
    const ports = {
      ...shared,
      ids: countedIds(name),
      plans: flows.handle(name, clock),
      routing: everyItemNamesItsFlow,
      modules: modules.handle(this.name, name, clock),
      locks: locks.handle(this.name, name, clock),
    };
    return {
      process: this.name,
      name,
      clock,
      membership,
      members: this.#roles.map(member),
      links: new Map(),
      ...(this.#roles.includes('dispatch') && { dispatch: new Dispatch(member('dispatch'), ports, dispatchSettings) }),
      ...(this.#roles.includes('spout') && { spout: new Spout(member('spout'), shared, spoutSettings) }),
    };
  }

  /** Links the spout to each dispatch that it sees listed and can reach. */
  #connectForEver(incarnation: Incarnation, spout: Spout): void {
    if (!incarnation.clock.running) return;
    const listed = new Set(incarnation.membership.members('dispatch').map(({ incarnation: name }) => name));
    for (const { current: other } of this.#world.processes) {
      if (!other?.dispatch || !listed.has(other.name) || incarnation.links.get(other.name)?.open) continue;
      if (this.#isApart(other.process)) continue;
      const name = `${incarnation.name}–${other.name}`;
      const made = link<FromSpout, FromDispatch>(this.#world, name, incarnation, other);
      incarnation.links.set(other.name, made);
      const { dispatch } = other;
      other.clock.soon(() => dispatch.connect(made.right));
      spout.connect({ processId: other.process, incarnation: other.name }, made.left);
    }
    incarnation.clock.after(connectEveryMs, () => this.#connectForEver(incarnation, spout));
  }

  #isApart(other: string): boolean {
    const { cuts } = this.#world;
    return cuts.isCut(this.name, other) || cuts.isCut(other, this.name);
  }

  #end(incarnation: Incarnation): void {
    incarnation.clock.stop();
    this.#current = undefined;
    this.#severLinks(incarnation);
  }

  /** The links to another process are noticed to be dead. */
  severLinksTo(other: SimulatedProcess): void {
    const [one, two] = [this.#current, other.current];
    if (!one || !two) return;
    one.links.get(two.name)?.sever();
    two.links.get(one.name)?.sever();
  }

  #severLinks(incarnation: Incarnation): void {
    for (const made of this.#linksOf(incarnation)) made.sever();
  }

  *#linksOf(incarnation: Incarnation): Iterable<Link<FromSpout, FromDispatch>> {
    yield* incarnation.links.values();
    for (const process of this.#world.processes) {
      const made = process.current?.links.get(incarnation.name);
      if (made) yield made;
    }
  }

  #tell(what: ProcessHappening['what'], { name }: Incarnation): void {
    this.#world.history.add({ kind: 'process', process: name, what });
  }

  #failed({ name, clock }: Pick<Incarnation, 'name' | 'clock'>, error: unknown, doing: string): void {
    if (!clock.running) return;
    const message = error instanceof Error ? error.message : String(error);
    this.#world.history.add({ kind: 'error', process: name, doing, message });
  }
}

/** Unique in the world, and the same each time the world is run. */
function countedIds(incarnation: string): Ids {
  let count = 0;
  return { next: () => `${incarnation}-${(count++).toString(36)}` };
}

const everyItemNamesItsFlow: Routing = {
  flowOf: async () => ({ kind: 'refused', why: 'unrouted', field: 'flow', message: 'is absent' }),
};
