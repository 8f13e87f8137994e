// How many processes a world has, and what each does.

import type { Role } from '../../../platform/coordination/membership.ts';
import { SimulatedProcess, type Surroundings } from './process.ts';
import type { Random } from './random.ts';

/** Large worlds cost more and show little else: they are rare. */
const dispatchCounts = [1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8];
const spoutCounts = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5];
/** Clocks that go right differ by so much, in ms. */
const maxSkewMs = 200;

/** One to eight dispatches and one to five spouts, apart or together. */
export function topology(world: Surroundings, random: Random): SimulatedProcess[] {
  const dispatches = random.pick(dispatchCounts);
  const spouts = random.pick(spoutCounts);
  const together = random.chance(0.5) ? Math.min(dispatches, spouts) : 0;
  const make = (name: string, roles: readonly Role[]) =>
    new SimulatedProcess(world, name, roles, random.between(-maxSkewMs, maxSkewMs));
  return [
    ...Array.from({ length: together }, (_, index) => make(`b${index + 1}`, ['dispatch', 'spout'])),
    ...Array.from({ length: dispatches - together }, (_, index) => make(`d${index + 1}`, ['dispatch'])),
    ...Array.from({ length: spouts - together }, (_, index) => make(`s${index + 1}`, ['spout'])),
  ];
}
