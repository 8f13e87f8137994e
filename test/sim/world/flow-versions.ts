// The versions of all flows: published and released in the midst of the work, seen by each process in its own time.
//
// Owns which version is released, and which one each process takes to be.
//
// Invariants:
//   F1  A version never changes. Whoever has seen a run pinned to it can read it.
//   F2  What a process takes to be released was released at some time.

import type { Plans } from '../../../dispatch/driver/ports.ts';
import type { Plan } from '../../../flow/plan.ts';
import type { ProcessClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './time.ts';

export interface FlowVersionsWorld {
  readonly time: VirtualTime;
  readonly faults: Faults;
  readonly history: History;
  readonly scheduling: Random;
}

/** Longest time until a process learns of a release, in ms. */
const maxLateMs = 30_000;

export class FlowVersions {
  readonly #world: FlowVersionsWorld;
  /** All versions that will ever be, the first one first. */
  readonly #plans: ReadonlyMap<string, readonly Plan[]>;
  readonly #published = new Set<Plan>();
  readonly #released = new Map<string, Plan>();
  readonly #views = new Set<{
    readonly name: string;
    readonly clock: ProcessClock;
    readonly seen: Map<string, Plan>;
  }>();

  constructor(world: FlowVersionsWorld, plans: ReadonlyMap<string, readonly Plan[]>) {
    this.#world = world;
    this.#plans = plans;
  }

  readonly planOf = (flow: string, version: number): Plan | undefined => {
    const plan = this.#plans.get(flow)?.[version - 1];
    return plan && this.#published.has(plan) ? plan : undefined;
  };

  /** Numbers of the versions of a flow that are published. */
  published(flow: string): number[] {
    const published = (this.#plans.get(flow) ?? []).filter((plan) => this.#published.has(plan));
    return published.map(({ version }) => version);
  }

  /** Releases the first version of each flow. */
  begin(): void {
    for (const [, [first]] of this.#plans) if (first) this.#release(first);
  }

  /** Releases a version of some flow: the next new one, or one that was released before. */
  releaseAny(): string {
    const { scheduling } = this.#world;
    const plans = scheduling.pick([...this.#plans.values()]);
    const isNext = (plan: Plan) => !this.#published.has(plan);
    const next = plans.find(isNext);
    const plan = next && scheduling.chance(0.6) ? next : scheduling.pick(plans.filter((each) => !isNext(each)));
    this.#release(plan);
    return `${plan.name} version ${plan.version}`;
  }

  /** The flows as one start of a process sees them. */
  handle(incarnation: string, clock: ProcessClock): Plans {
    const seen = new Map(this.#released);
    this.#views.add({ name: incarnation, clock, seen });
    return {
      released: async (flow) => seen.get(flow),
      pinned: async (flow, version) => this.planOf(flow, version),
    };
  }

  heal(): void {
    for (const { seen } of this.#views) for (const [flow, plan] of this.#released) seen.set(flow, plan);
  }

  /** After the versions of other flows that it names. */
  #publish(plan: Plan): void {
    if (this.#published.has(plan)) return;
    for (const { action } of plan.steps) {
      const child = action.kind === 'for_each' ? action.branch : action;
      if (child.kind !== 'sub_flow') continue;
      const named = this.#plans.get(child.flow)?.[child.version - 1];
      if (named) this.#publish(named);
    }
    this.#published.add(plan);
    this.#world.history.add({ kind: 'flow', what: 'published', flow: plan.name, version: plan.version });
  }

  #release(plan: Plan): void {
    const { time, faults, history, scheduling } = this.#world;
    const { name: flow, version } = plan;
    this.#publish(plan);
    this.#released.set(flow, plan);
    history.add({ kind: 'flow', what: 'released', flow, version });
    for (const view of this.#views) {
      if (!view.clock.running) {
        this.#views.delete(view);
        continue;
      }
      const isLate = faults.strikes('late release', `${flow} at ${view.name}`);
      time.after(isLate ? scheduling.between(500, maxLateMs) : scheduling.between(1, 50), () => {
        // A later look shows what is released then.
        const newest = this.#released.get(flow);
        if (newest) view.seen.set(flow, newest);
      });
    }
  }
}
