// Whose a server is: it decides who may stop it.

import { type RunningServer, runningServers, startTicks } from './process-table.ts';
import { stopServer } from './server.ts';

/** Started by `npm run services -- up`: runs until `down`. */
export const commandOwner = 'command';
/** Started for the real tests: the last test run that uses it stops it. */
export const testRunsOwner = 'test runs';

/** The owner of a test's own server: this process. The start time tells it from a later process with the same pid. */
export function thisProcess(): string {
  return `process ${process.pid} ${startTicks(process.pid)}`;
}

/** Stops the servers of a checkout whose owner was a process that is gone, and returns them. */
export async function stopOrphans(root: string): Promise<RunningServer[]> {
  const orphans = runningServers(root).filter((server) => isGone(server.owner));
  await Promise.all(orphans.map(stopServer));
  return orphans;
}

function isGone(owner: string): boolean {
  const [kind, pid, ticks] = owner.split(' ');
  return kind === 'process' && startTicks(Number(pid)) !== ticks;
}
