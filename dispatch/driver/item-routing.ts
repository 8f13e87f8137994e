// Which flow an item goes to that names none.
//
// Invariants:
//   I1  The choice is stored before the run is created, and the first that is stored stays. An item that is sent again, after a
//       time-out or a crash of this process, comes to the run that it had, whatever routes are released meanwhile.

import { type CompiledRoutes, chooseFlow } from '../../flow/routing/choose-flow.ts';
import type { Assignments } from '../../store/assignments.ts';
import type { RoutableItem, Routed, Routing } from './ports.ts';

/** The routes in use. */
export interface ReleasedRoutes {
  /** Undefined when none are released. */
  released(business: string): Promise<CompiledRoutes | undefined>;
}

export class ItemRouting implements Routing {
  readonly #routes: ReleasedRoutes;
  readonly #assignments: Assignments;

  constructor(routes: ReleasedRoutes, assignments: Assignments) {
    this.#routes = routes;
    this.#assignments = assignments;
  }

  async flowOf(item: RoutableItem): Promise<Routed> {
    const { business, key } = item;
    const assigned = await this.#assignments.assigned(business, key);
    if (assigned !== undefined) return { kind: 'flow', flow: assigned };
    const chosen = await this.#choose(item);
    if (chosen.kind === 'refused') return chosen;
    const stored = await this.#assignments.assign(business, key, chosen.flow);
    if (stored.kind === 'done') return { kind: 'flow', flow: stored.flow };
    return refused('unavailable', '', 'the store did not answer; send the same item again');
  }

  async #choose({ business, level, fields }: RoutableItem): Promise<Routed> {
    const routes = await this.#routes.released(business);
    if (!routes) {
      const message = `is absent, and no routes of business ${business} are released; name a flow`;
      return refused('unrouted', 'flow', message);
    }
    const choice = chooseFlow(routes, { level, fields });
    switch (choice.kind) {
      case 'flow':
        return { kind: 'flow', flow: choice.flow };
      case 'refused':
        return refused('unrouted', 'flow', `is absent, and no rule of business ${business} takes the item`);
      case 'failed':
        return refused('invalid', 'fields', `routes of business ${business}: ${choice.message}`);
    }
  }
}

function refused(why: Extract<Routed, { kind: 'refused' }>['why'], field: string, message: string): Routed {
  return { kind: 'refused', why, field, message };
}
