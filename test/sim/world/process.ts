// A process of the installation: it starts, works, may die at any moment and start again as another incarnation.
//
// Owns everything that dies with an incarnation: its clock, its roles, its ends of links.
//
// Invariants:
//   P1  Once an incarnation's clock has stopped, nothing of it acts: timers, answers, messages and callbacks all come through
//       the clock.

import { Dispatch } from '../../../dispatch/dispatch.ts';
import type { Plans } from '../../../dispatch/driver/ports.ts';
import type { Modules } from '../../../dispatch/modules/port.ts';
import type { DispatchSettings } from '../../../dispatch/settings.ts';
import type { Member, Role } from '../../../platform/coordination/membership.ts';
import type { Ids } from '../../../platform/ids/ids.ts';
import type { FromDispatch, FromSpout } from '../../../proto/gen/weir/feed/v1/feed_pb.js';
import type { SpoutSettings } from '../../../spout/settings.ts';
import { Spout } from '../../../spout/spout.ts';
import type { Store } from '../../../store/port.ts';
import { ProcessClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { History, ProcessHappening } from './history.ts';
import type { SimulatedLocks } from './locks.ts';
import type { SimulatedMembership } from './membership.ts';
import type { SimulatedModules } from './modules.ts';
import { type Link, link } from './network.ts';
import type { Random } from './random.ts';
import type { SimulatedStore } from './store.ts';
import type { VirtualTime } from './time.ts';

/** What processes find in their world. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly scheduling: Random;
  readonly faults: Faults;
  readonly history: History;
  readonly store: SimulatedStore;
  readonly modules: SimulatedModules;
  readonly membership: SimulatedMembership;
  readonly locks: SimulatedLocks;
  readonly plans: Plans;
  readonly dispatchSettings: Partial<DispatchSettings>;
  readonly spoutSettings: Partial<SpoutSettings>;
  readonly processes: readonly SimulatedProcess[];
  /** Faults planted between the roles and their world. */
  readonly mutateStore: (store: Store) => Store;
  readonly mutateModules: (modules: Modules) => Modules;
}

export interface Incarnation {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly members: Member[];
  readonly dispatch?: Dispatch;
  readonly spout?: Spout;
  /** Of the spout, by the incarnation of the dispatch at the other end. */
  readonly links: Map<string, Link<FromSpout, FromDispatch>>;
}

/** How often a spout looks for dispatches that it has no link to, in ms. */
const connectEveryMs = 500;
/** How long the other end of a link stays silent before it counts as gone, in ms. */
const keepaliveMs = 10_000;

export class SimulatedProcess {
  readonly name: string;
  readonly #world: Surroundings;
  readonly #roles: readonly Role[];
  readonly #skewMs: number;
  #starts = 0;
  #current: Incarnation | undefined;
  #isLeaving = false;

  constructor(world: Surroundings, name: string, roles: readonly Role[], skewMs: number) {
    this.#world = world;
    this.name = name;
    this.#roles = roles;
    this.#skewMs = skewMs;
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
    this.#world.membership.died(incarnation.members);
  }

  /** Stands still, as in a long collection of garbage or a stopped virtual machine. */
  pause(durationMs: number): void {
    const incarnation = this.#current;
    if (!incarnation || this.isOccupied) return;
    this.#tell('paused', incarnation);
    incarnation.clock.pause(durationMs);
    this.#world.membership.silent(incarnation.members, durationMs, () => incarnation.clock.running);
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
    const { time, store, modules, membership, locks, plans, scheduling, dispatchSettings } = this.#world;
    const name = `${this.name}.${++this.#starts}`;
    const clock = new ProcessClock(time, this.#skewMs);
    const members: Member[] = this.#roles.map((role) => ({
      role,
      processId: this.name,
      incarnation: name,
      address: '',
    }));
    const memberOf = (role: Role) => members.find((member) => member.role === role);
    const shared = {
      clock,
      store: this.#world.mutateStore(store.handle(name, clock)),
      membership: membership.handle(clock),
      random: scheduling.next,
    };
    const incarnation = { name, clock, members, links: new Map<string, Link<FromSpout, FromDispatch>>() };
    const onError = (error: unknown, doing: string) => this.#failed(incarnation, error, doing);
    const dispatchMember = memberOf('dispatch');
    const spoutMember = memberOf('spout');
    const ports = {
      ...shared,
      ids: countedIds(name),
      plans,
      modules: this.#world.mutateModules(modules.handle(name, clock)),
      locks: locks.handle(name, clock),
      onError,
    };
    return {
      ...incarnation,
      ...(dispatchMember && { dispatch: new Dispatch(dispatchMember, ports, dispatchSettings) }),
      ...(spoutMember && { spout: new Spout(spoutMember, { ...shared, onError }, this.#world.spoutSettings) }),
    };
  }

  #connectForEver(incarnation: Incarnation, spout: Spout): void {
    if (!incarnation.clock.running) return;
    for (const process of this.#world.processes) {
      const other = process.current;
      if (!other?.dispatch || incarnation.links.get(other.name)?.open) continue;
      if (!this.#world.membership.hasDispatch(other.name)) continue;
      const name = `${incarnation.name}–${other.name}`;
      const made = link<FromSpout, FromDispatch>(this.#world, name, incarnation.clock, other.clock);
      incarnation.links.set(other.name, made);
      const { dispatch } = other;
      other.clock.soon(() => dispatch.connect(made.right));
      spout.connect({ processId: process.name, incarnation: other.name }, made.left);
    }
    incarnation.clock.after(connectEveryMs, () => this.#connectForEver(incarnation, spout));
  }

  #end(incarnation: Incarnation): void {
    incarnation.clock.stop();
    this.#current = undefined;
    this.#severLinks(incarnation);
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
