// `weir up --cluster`, `weir dispatch`, `weir spout`: the process around roles of a cluster.

import type { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { createLogger } from '../../platform/telemetry/logger.ts';
import { usageFailure } from '../failure.ts';
import { keptAlive } from '../kept-alive.ts';
import { readTextFile } from '../read-file.ts';
import { readFlows } from '../roles/flow-files.ts';
import { readAround, runUntilStopped, unlessStopped, watchProcess } from '../roles/process.ts';
import { settingsProblems } from '../settings-problems.ts';
import { readClusterFile } from './cluster-file.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { type ClusterProcess, type ClusterProcessOptions, startClusterProcess } from './start.ts';
import { startFailure } from './start-failure.ts';

export interface ClusterRunOptions {
  /** The cluster file. */
  readonly cluster: string;
  /** Of this process, the same over restarts. */
  readonly name?: string;
  /** File or folder of flows. */
  readonly flows?: string;
  /** Hosts that flows may call by address. */
  readonly callbackHosts?: CallbackHosts;
  readonly json?: boolean;
}

const maxFileBytes = 1_048_576;
/** For all that is to be done besides waiting for calls, in ms: with the default time for those, inside the 30 s that supervisors allow. */
const afterDrainMs = 8_000;

/** Runs roles until they are told to stop. Everything that a person gave is checked before anything is opened. */
export async function runInCluster(roles: ClusterProcessOptions['roles'], options: ClusterRunOptions): Promise<void> {
  await keptAlive(() => run(roles, options));
}

async function run(roles: ClusterProcessOptions['roles'], options: ClusterRunOptions): Promise<void> {
  const settings = readSettings(options.cluster);
  const flows = options.flows === undefined ? [] : readFlows(options.flows);
  const around = await readAround();
  const logger = createLogger(systemClock, (line) => process.stderr.write(`${line}\n`));
  const stopping = watchProcess(logger);
  const { name, callbackHosts } = options;
  const starting = start({
    ...{ settings, roles, flows, logger, ...around },
    ...(name !== undefined && { name }),
    ...(callbackHosts && { callbackHosts }),
  });
  const running = await unlessStopped(starting, stopping, logger);
  const stopLimitMs = settings.dispatch.drainMs + afterDrainMs;
  await runUntilStopped(running, readyLine(roles, options, running), stopping, logger, stopLimitMs);
}

/** The settings of a cluster file with the environment over it; a CommandFailure that tells every problem. */
export function readSettings(file: string): ClusterSettings {
  const reading = readClusterFile(readTextFile('--cluster', file, maxFileBytes), process.env);
  if (reading.ok) return reading.settings;
  throw usageFailure(`--cluster: nothing was started\n${settingsProblems(file, reading.problems)}`);
}

async function start(options: ClusterProcessOptions): Promise<ClusterProcess> {
  try {
    return await startClusterProcess(options);
  } catch (error) {
    throw startFailure(error, options.settings.hbase.servers);
  }
}

function readyLine(
  roles: ClusterProcessOptions['roles'],
  { json }: ClusterRunOptions,
  { address, released }: ClusterProcess,
): string {
  if (json) return JSON.stringify({ address, roles, flows: released });
  const flows = released.map(({ name, version }) => `${name} version ${version}`).join(', ');
  return `Weir (${roles.join(' and ')}) is ready at ${address}${flows === '' ? '' : `; flows: ${flows}`}`;
}
