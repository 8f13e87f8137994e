// What dispatch asks of the world.

import type { Plan } from '../../flow/plan.ts';
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
  readonly modules: Modules;
  readonly membership: Membership;
  readonly locks: RunLocks;
  /** Faults that no caller waits for: logged and counted, never swallowed. */
  readonly onError: (error: unknown, doing: string) => void;
}

/** Flows ready to run. */
export interface Plans {
  /** The plan that new runs of a flow follow now; undefined when there is no such flow or none is released. */
  released(flow: string): Promise<Plan | undefined>;
  /** The plan of a pinned version; undefined when it doesn't exist. */
  pinned(flow: string, version: number): Promise<Plan | undefined>;
}
