// What dispatch asks of the world.

import type { Plan } from '../../flow/plan.ts';
import type { RoutedItem } from '../../flow/routing/choose-flow.ts';
import type { ReleasedItem } from '../../flow/routing/gray.ts';
import type { RunId } from '../../flow/run.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Membership } from '../../platform/coordination/membership.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Store } from '../../store/port.ts';
import type { Modules } from '../modules/port.ts';

export interface DispatchPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly store: Store;
  readonly plans: Plans;
  readonly routing: Routing;
  readonly modules: Modules;
  readonly membership: Membership;
  readonly locks: RunLocks;
  /** Faults that no caller waits for: logged and counted, never swallowed. */
  readonly onError: (error: unknown, doing: string) => void;
  /** A run went on without us: a write of ours was refused, or we were told of a newer holder. */
  readonly onOvertaken?: (run: RunId) => void;
  /** Told once when run locks don't answer any more, and once when they do again: for logs and alarms. */
  readonly onLocks?: (change: LocksChange) => void;
}

/** Without locks, claims go on at a limited rate. `unlockedClaims` since the start of the process. */
export type LocksChange =
  | { readonly kind: 'away' }
  | { readonly kind: 'back'; readonly awayMs: number; readonly unlockedClaims: number };

/** Flows ready to run. */
export interface Plans {
  /**
   * The plan that a new run of an item follows now, by the release of the flow; undefined when there is no such flow or none is
   * released. The run keeps the version: nobody asks again.
   */
  released(flow: string, item: ReleasedItem): Promise<Plan | undefined>;
  /** The plan of a pinned version; undefined when it doesn't exist. */
  pinned(flow: string, version: number): Promise<Plan | undefined>;
}

/** Flows for items that name none. */
export interface Routing {
  /** The same flow for an item, whenever it is asked for. */
  flowOf(item: RoutableItem): Promise<Routed>;
}

export interface RoutableItem extends ReleasedItem, RoutedItem {}

export type Routed =
  | { readonly kind: 'flow'; readonly flow: string }
  | {
      readonly kind: 'refused';
      readonly why: 'unrouted' | 'invalid' | 'unavailable';
      readonly field: string;
      readonly message: string;
    };
