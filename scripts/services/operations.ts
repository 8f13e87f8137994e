// What the command does: brings the shared services up and down, and says how they are. Two who do so at once take turns
// per service: `.services/<name>.lock`.

import { join } from 'node:path';
import { type Place, type ServiceName, serverFolder, services } from './catalogue.ts';
import { underLock } from './file-lock.ts';
import type { Say } from './installation.ts';
import { stopOrphans, testRunsOwner } from './owner.ts';
import { describeListener, listenerOn, type RunningServer, serverIn } from './process-table.ts';
import { ensureAnswering, type Server, stopServer } from './server.ts';

export type ServiceState = 'not installed' | 'stopped' | 'starting' | 'answering';

export interface ServiceStatus {
  readonly name: ServiceName;
  readonly state: ServiceState;
  /** What keeps it from answering, or who uses its port. */
  readonly detail?: string;
  readonly pid?: number;
  readonly address?: string;
  readonly version?: string;
  readonly folder?: string;
}

/** Installs the programs that are missing. */
export async function installServices(names: readonly ServiceName[], { root }: Place, say: Say): Promise<void> {
  await all(names, async (name) => {
    await services[name].install(root, (line) => say(`${name}: ${line}`));
    say(`${name}: ${await services[name].version(root)} is installed`);
  });
}

/** Installs and starts what is missing and returns when each service answers; leaves alone what answers already. */
export async function bringUp(names: readonly ServiceName[], owner: string, place: Place, say: Say): Promise<void> {
  const { root } = place;
  await sweep(root, say);
  await all(names, async (name) => {
    const service = services[name];
    await takingTurns(name, root, say, async () => {
      await service.install(root, (line) => say(`${name}: ${line}`));
      const server = service.server(place);
      const before = serverIn(server.folder);
      if (before === undefined) say(`${name}: starting`);
      const running = await ensureAnswering(server, { root, owner });
      const verb = running.pid === before?.pid ? 'runs already and answers' : 'answers';
      const note =
        running.owner === testRunsOwner && owner !== testRunsOwner ? '; the test run that uses it stops it' : '';
      say(`${name}: ${verb} at ${server.address} (${service.hint(place.ports)}), pid ${running.pid}${note}`);
    });
  });
}

/** Stops the services that run, and what tests that were killed have left. */
export async function bringDown(names: readonly ServiceName[], { root }: Place, say: Say): Promise<void> {
  await sweep(root, say);
  await all(names, async (name) => {
    await takingTurns(name, root, say, async () => {
      const running = runningService(name, root);
      if (running !== undefined) await stopServer(running);
      say(`${name}: ${running === undefined ? 'was not running' : `stopped (pid ${running.pid})`}`);
    });
  });
}

/** Looks, and changes nothing. */
export async function findStatus(name: ServiceName, place: Place): Promise<ServiceStatus> {
  const { root } = place;
  const service = services[name];
  if (!service.isInstalled(root)) return { name, state: 'not installed' };
  const server = service.server(place);
  const known = { name, version: await service.version(root), address: server.address, folder: server.folder };
  const running = serverIn(server.folder);
  if (running === undefined) return { ...known, state: 'stopped', ...usersOfPorts(server) };
  const fault = await server.findFault();
  if (fault !== undefined) return { ...known, state: 'starting', detail: fault, pid: running.pid };
  return { ...known, state: 'answering', pid: running.pid };
}

/** The process of a shared service, in whatever state. */
export function runningService(name: ServiceName, root: string): RunningServer | undefined {
  return serverIn(serverFolder(root, name));
}

function usersOfPorts(server: Server): { detail?: string } {
  const listeners = server.ports.map(listenerOn).filter((listener) => listener !== undefined);
  return listeners.length === 0 ? {} : { detail: listeners.map(describeListener).join('; ') };
}

async function sweep(root: string, say: Say): Promise<void> {
  for (const { pid, folder } of await stopOrphans(root))
    say(`stopped what a killed test left: pid ${pid} in ${folder}`);
}

async function takingTurns(name: ServiceName, root: string, say: Say, work: () => Promise<void>): Promise<void> {
  const onWait = () => say(`${name}: another process starts or stops it, waiting`);
  await underLock(join(root, `${name}.lock`), work, onWait);
}

// One that fails does not leave the others half done.
async function all(names: readonly ServiceName[], work: (name: ServiceName) => Promise<void>): Promise<void> {
  const failures = (await Promise.allSettled(names.map(work))).filter((result) => result.status === 'rejected');
  if (failures.length === 1) throw failures[0]!.reason;
  if (failures.length > 1) throw new AggregateError(failures.map((failure) => failure.reason as unknown));
}
