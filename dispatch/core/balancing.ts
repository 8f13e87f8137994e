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

/** What endpoints of one module may differ in besides. Absent is: of weight 1, near, not failing. */
export interface Standing {
  /** Its share of calls beside the others, from 1. */
  readonly weight?: number;
  /** Belongs to another unit than the caller: used when no near one has a free place. */
  readonly isFar?: boolean;
  /** Its last calls were not reached or lost, whatever its health says. */
  readonly isFailing?: boolean;
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
 * doesn't serve is no reason to leave the queue of those that do. Of those that are free the near ones go first. An idle endpoint
 * is drawn as often as its weight says; of two, the one with fewer calls for its weight gets the call.
 *
 * `random`: uniform in [0, 1); asked twice when there is a choice, else never. `barred`: has no place for this call now, whatever
 * it has for others.
 */
export function choose<C extends Candidate & Standing>(
  endpoints: readonly C[],
  tried: readonly C[],
  random: () => number,
  barred: (endpoint: C) => boolean = () => false,
): Choice<C> {
  const best = bestRank(endpoints, tried);
  if (best === Number.POSITIVE_INFINITY) return none;
  const may = (endpoint: C): boolean =>
    endpoint.inFlight < endpoint.concurrency &&
    rank(endpoint) === best &&
    !tried.includes(endpoint) &&
    !barred(endpoint);
  const free = nearest(endpoints.filter(may));
  const [only] = free;
  if (only === undefined) return busy;
  if (free.length === 1) return { kind: 'chosen', endpoint: only };
  const total = free.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  const first = draw(free, 0, random() * total);
  const one = at(free, first);
  // The other one is drawn among the rest.
  const other = at(free, draw(free, first + 1, random() * (total - weightOf(one))));
  return { kind: 'chosen', endpoint: load(other) < load(one) ? other : one };
}

function bestRank<C extends Candidate & Standing>(endpoints: readonly C[], tried: readonly C[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (const endpoint of endpoints) {
    if (!tried.includes(endpoint)) best = Math.min(best, rank(endpoint));
  }
  return best;
}

/** Lower is better. What doesn't serve or can't be reached is still tried when nothing else is left: health may be stale. */
function rank({ health, isFailing = false }: Candidate & Standing): number {
  if (isFailing || health === Health.NOT_SERVING || health === Health.UNREACHABLE) return 2;
  return health === Health.SERVING ? 0 : 1;
}

function nearest<C extends Standing>(free: readonly C[]): readonly C[] {
  if (!free.some(({ isFar = false }) => isFar)) return free;
  const near = free.filter(({ isFar = false }) => !isFar);
  return near.length > 0 ? near : free;
}

function weightOf({ weight = 1 }: Standing): number {
  return weight;
}

function load(endpoint: Candidate & Standing): number {
  return endpoint.inFlight / weightOf(endpoint);
}

/** Where `mark` falls when the weights are laid out one after another, in a circle that begins at index `start`. */
function draw(list: readonly Standing[], start: number, mark: number): number {
  let left = mark;
  for (let step = 0; step < list.length - 1; step++) {
    const index = (start + step) % list.length;
    left -= weightOf(at(list, index));
    if (left < 0) return index;
  }
  return (start + list.length - 1) % list.length;
}

function at<C>(list: readonly C[], index: number): C {
  const item = list[index];
  if (item === undefined) throw new Error(`invariant: index ${index} of ${list.length}; is random() below 1?`);
  return item;
}
