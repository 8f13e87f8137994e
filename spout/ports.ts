// What a spout asks of the world.

import type { Clock } from '../platform/clock/clock.ts';
import type { Membership } from '../platform/coordination/membership.ts';
import type { Store } from '../store/port.ts';

export interface SpoutPorts {
  readonly clock: Clock;
  readonly store: Store;
  readonly membership: Membership;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Faults that no caller waits for: logged and counted, never swallowed. */
  readonly onError: (error: unknown, doing: string) => void;
}
