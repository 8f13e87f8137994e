// What can go wrong in a world.

/** Kinds of fault. The value is how often one strikes where it is at its worst: a chance per operation, or ms between two. */
export const worst = {
  // The store.
  'lost reply': 0.1,
  'write not applied': 0.1,
  'late apply': 0.1,
  'read error': 0.1,
  'stale read': 0.5,
  'duplicated request': 0.1,
  'store outage': 25_000,
  // The network. A cut is a partition in one direction: what is sent that way is lost.
  'lost message': 0.1,
  'delayed message': 0.03,
  'closed link': 10_000,
  'lost submit reply': 0.2,
  'duplicated submit': 0.2,
  'cut between processes': 8_000,
  'cut to the store': 12_000,
  'cut from the store': 12_000,
  'cut to the locks': 15_000,
  'cut to a module': 8_000,
  'cut from clients': 12_000,
  // Run locks.
  'locks unavailable': 0.5,
  'locks flushed': 20_000,
  'ghost lock': 0.1,
  // Membership.
  'ghost member': 0.7,
  'session expired': 15_000,
  'all members lost': 30_000,
  'late view': 0.2,
  // Modules.
  'answer FAILED': 0.2,
  'answer TIMED_OUT': 0.1,
  'answer VIOLATION': 0.05,
  'answer OVERLOADED': 0.2,
  'answer OVER_LIMITS': 0.1,
  'answer NO_AUTH': 0.05,
  'answer REJECTED': 0.03,
  'answer FATAL': 0.03,
  'wrong row key': 0.03,
  'unknown code': 0.03,
  'garbage answer': 0.03,
  'malformed field': 0.03,
  'undeclared field': 0.2,
  'module unreachable': 0.1,
  'call lost': 0.2,
  'answer lost': 0.4,
  'slow module': 0.2,
  'duplicated call': 0.1,
  'module crash': 4_000,
  'module pause': 10_000,
  'module not serving': 8_000,
  // Of all items: whoever works on one dies.
  'poison item': 0.05,
  // Of some worlds that have it: one item kills every process of the engine that takes it.
  'deadly item': 0.15,
  // Processes.
  crash: 2_000,
  pause: 8_000,
  drain: 8_000,
  'long drain': 0.5,
  'restart at once': 15_000,
  'clock jump': 20_000,
  // People.
  'event amid a write': 0.05,
  'duplicated event': 0.3,
  'event for an absent run': 0.02,
  'flow release': 20_000,
  'late release': 0.5,
} as const;

export type FaultKind = keyof typeof worst;

export const faultKinds = Object.keys(worst) as readonly FaultKind[];

/**
 * Kinds that leave no call's end unknown and take no run from its holder: where nothing else strikes but a poison item, nobody else
 * may end parked.
 */
export const harmlessToCalls: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'locks unavailable',
  'locks flushed',
  'ghost lock',
  'lost submit reply',
  'duplicated submit',
  'answer FAILED',
  'answer OVERLOADED',
  'answer OVER_LIMITS',
  'answer NO_AUTH',
  'undeclared field',
  'duplicated event',
  'flow release',
  'late release',
]);
