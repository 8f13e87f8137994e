// What can go wrong in a world.

/** Kinds of fault. The value is how often one strikes where it is at its worst: a chance per operation, or ms between two. */
export const worst = {
  // The store.
  'lost reply': 0.1,
  'write not applied': 0.1,
  'late apply': 0.1,
  'read error': 0.1,
  // The network between spouts and dispatches, and between clients and dispatches.
  'lost message': 0.1,
  'closed link': 10_000,
  'lost submit reply': 0.2,
  // Run locks.
  'locks unavailable': 0.5,
  'locks flushed': 20_000,
  // Modules.
  'answer FAILED': 0.2,
  'answer TIMED_OUT': 0.1,
  'answer VIOLATION': 0.05,
  'answer OVERLOADED': 0.2,
  'answer OVER_LIMITS': 0.1,
  'answer NO_AUTH': 0.05,
  'answer REJECTED': 0.03,
  'answer FATAL': 0.03,
  'module unreachable': 0.1,
  'call lost': 0.2,
  'answer lost': 0.4,
  'slow module': 0.2,
  // Processes.
  crash: 2_000,
  pause: 8_000,
  drain: 20_000,
} as const;

export type FaultKind = keyof typeof worst;

export const faultKinds = Object.keys(worst) as readonly FaultKind[];
