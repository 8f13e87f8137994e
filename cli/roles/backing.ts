// What the roles of a process stand on: one machine's files, or the services of a cluster. The roles never know which.

import type { Configuration } from '../../platform/coordination/configuration.ts';
import type { EndpointDirectory } from '../../platform/coordination/endpoint-directory.ts';
import type { Membership } from '../../platform/coordination/membership.ts';
import type { RunLocks } from '../../platform/coordination/run-locks.ts';
import type { Assignments } from '../../store/assignments.ts';
import type { Store } from '../../store/port.ts';

export interface Backing {
  readonly store: Store & Assignments;
  readonly configuration: Configuration;
  readonly membership: Membership;
  readonly locks: RunLocks;
  readonly directory: EndpointDirectory;
}
