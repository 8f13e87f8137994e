// Brings up the services for the project `real` and stops, at the end, those that test runs have started: the last of several
// runs at a time does it. What `npm run services -- up` started keeps running.

import { join } from 'node:path';
import { type Place, type ServiceName, serviceNames, sharedPlace } from '../../../scripts/services/catalogue.ts';
import { lockFile, tryLock } from '../../../scripts/services/file-lock.ts';
import type { Say } from '../../../scripts/services/installation.ts';
import { bringDown, bringUp, runningService } from '../../../scripts/services/operations.ts';
import { testRunsOwner } from '../../../scripts/services/owner.ts';

/** Called by vitest before the first test; returns what it calls after the last. */
export async function setup(): Promise<() => Promise<void>> {
  return await useServices(serviceNames, sharedPlace, console.log);
}

/** Returns when the services answer; what it returns ends the use. */
export async function useServices(names: readonly ServiceName[], place: Place, say: Say): Promise<() => Promise<void>> {
  // Shared by all runs that use the services. Exclusive by the one that stops them, so that none begins meanwhile.
  const usersLock = join(place.root, 'test-runs.lock');
  const use = await lockFile(usersLock, { mode: 'shared' });
  const endUse = async () => {
    use.release();
    const last = tryLock(usersLock, 'exclusive');
    if (last === undefined) return;
    try {
      const ours = names.filter((name) => runningService(name, place.root)?.owner === testRunsOwner);
      if (ours.length > 0) await bringDown(ours, place, say);
    } finally {
      last.release();
    }
  };
  try {
    await bringUp(names, testRunsOwner, place, say);
  } catch (error) {
    await endUse();
    throw error;
  }
  return endUse;
}
