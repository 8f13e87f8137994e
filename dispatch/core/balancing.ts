// Which endpoint a call goes to: the less loaded of two, drawn at random among those that may take it. Two draws spread calls
// nearly as well as asking everybody, and callers that don't know of each other don't all run to the same endpoint.

import { Health } from '../../proto/gen/weir/directory/v1/directory_pb.js';

/** An endpoint as balancing sees it. */
export interface Candidate {
  readonly health: Health;
  /** Calls on their way. */
  readonly inFlight: number;
  /** How many there may be. */
  readonly concurrency: number;
}

export type Choice<C extends Candidate> =
  | { readonly kind: 'chosen'; readonly endpoint: C }
  /** Those that may take the call have no free place now. */
  | { readonly kind: 'busy' }
  /** There is none that was not tried yet. */
  | { readonly kind: 'none' };

const busy: Choice<never> = { kind: 'busy' };
const none: Choice<never> = { kind: 'none' };

/**
 * Chooses among the endpoints not tried yet, of which only those in the best health count: a free place at an endpoint that
 * doesn't serve is no reason to leave the queue of those that do.
 *
 * `random`: uniform in [0, 1); asked twice when there is a choice, else never. `barred`: has no place for this call now, whatever
 * it has for others.
 */
export function choose<C extends Candidate>(
  endpoints: readonly C[],
  tried: readonly C[],
  random: () => number,
  barred: (endpoint: C) => boolean = () => false,
): Choice<C> {
  const best = bestStanding(endpoints, tried);
  if (best === Number.POSITIVE_INFINITY) return none;
  const may = (endpoint: C): boolean =>
    endpoint.inFlight < endpoint.concurrency &&
    standing(endpoint) === best &&
    !tried.includes(endpoint) &&
    !barred(endpoint);
  const free = endpoints.filter(may);
  const [only] = free;
  if (only === undefined) return busy;
  if (free.length === 1) return { kind: 'chosen', endpoint: only };
  const first = Math.floor(random() * free.length);
  const step = 1 + Math.floor(random() * (free.length - 1));
  const one = at(free, first);
  const other = at(free, (first + step) % free.length);
  return { kind: 'chosen', endpoint: other.inFlight < one.inFlight ? other : one };
}

function bestStanding<C extends Candidate>(endpoints: readonly C[], tried: readonly C[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    if (!tried.includes(endpoint)) best = Math.min(best, standing(endpoint));
  }
  return best;
}

/** Lower is better. What doesn't serve or can't be reached is still tried when nothing else is left: health may be stale. */
function standing({ health }: Candidate): number {
  if (health === Health.SERVING) return 0;
  return health === Health.NOT_SERVING || health === Health.UNREACHABLE ? 2 : 1;
}

function at<C>(list: readonly C[], index: number): C {
  const item = list[index];
  if (item === undefined) throw new Error(`invariant: index ${index} of ${list.length}; is random() below 1?`);
  return item;
}
