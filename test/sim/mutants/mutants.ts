// All faults that are planted to see whether the checkers find them. One that no seed catches means a better checker or a better
// world.

import { driverMutants } from './driver.ts';
import { familyMutants } from './families.ts';
import { flowMutants } from './flow.ts';
import { languageMutants } from './language.ts';
import type { Mutant } from './mutant.ts';
import { spoutMutants } from './spout.ts';
import { storeMutants } from './store.ts';

export const mutants: readonly Mutant[] = [
  ...storeMutants,
  ...driverMutants,
  ...flowMutants,
  ...languageMutants,
  ...familyMutants,
  ...spoutMutants,
];

/** Throws when there is none of this name. */
export function mutantNamed(name: string): Mutant {
  const found = mutants.find((mutant) => mutant.name === name);
  if (!found) throw new Error(`no mutant is named ${JSON.stringify(name)}`);
  return found;
}
