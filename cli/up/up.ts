// `weir up`: the whole engine in one process.

import { defaultNetworks } from '../../dispatch/modules/allowed-addresses.ts';
import type { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { type DirectorySetting, type ModuleSetting, readDirectory } from '../../dispatch/modules/configuration.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { createLogger } from '../../platform/telemetry/logger.ts';
import { DataFolderError } from '../../store/sqlite/data-folder-error.ts';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { readTextFile } from '../read-file.ts';
import { readFlows } from '../roles/flow-files.ts';
import { readAround, runUntilStopped, watchProcess } from '../roles/process.ts';
import { settingsProblems } from '../settings-problems.ts';
import { assemble, type Engine, type EngineOptions } from './assemble.ts';

export interface UpOptions {
  readonly data: string;
  readonly address: string;
  /** File of the module directory. */
  readonly modules?: string;
  /** File or folder of flows. */
  readonly flows?: string;
  /** Hosts that flows may call by address. */
  readonly callbackHosts?: CallbackHosts;
  /** Runs held at once. */
  readonly maxRuns: number;
  /** Time to live of a run lock. */
  readonly lockTtlMs: number;
  readonly json?: boolean;
}

const maxModulesBytes = 1_048_576;

/** Runs an engine until it is told to stop. Everything that a person gave is checked before anything is opened. */
export async function up(options: UpOptions): Promise<void> {
  const registration = options.modules === undefined ? noModules : readModulesFile(options.modules);
  const { modules } = registration;
  const flows = options.flows === undefined ? [] : readFlows(options.flows);
  const around = await readAround();
  const logger = createLogger(systemClock, (line) => process.stderr.write(`${line}\n`));
  const stopping = watchProcess(logger);
  const engine = await open({
    ...{ ...options, modules, registration, flows, logger, ...around },
    dispatch: { maxRuns: options.maxRuns, lockTtlMs: options.lockTtlMs },
    onFatal: stopping.fail,
  });
  await runUntilStopped(engine, readyLine(options, engine, modules), stopping, logger);
}

const noModules: DirectorySetting = { modules: [], register: [], networks: defaultNetworks };

function readModulesFile(path: string): DirectorySetting {
  const reading = readDirectory(readTextFile('--modules', path, maxModulesBytes));
  if (reading.ok) return reading.value;
  throw usageFailure(`--modules: nothing was started\n${settingsProblems(path, reading.problems)}`);
}

async function open(options: EngineOptions): Promise<Engine> {
  try {
    return await assemble(options);
  } catch (error) {
    if (error instanceof DataFolderError) throw usageFailure(`--data: ${error.message}`, error);
    if (error instanceof Error && error.message.startsWith('cannot listen on')) {
      throw new CommandFailure(exitCodes.failed, `--address: ${error.message}`, error);
    }
    throw error;
  }
}

function readyLine({ data, json }: UpOptions, engine: Engine, modules: readonly ModuleSetting[]): string {
  const { address, released } = engine;
  if (json) return JSON.stringify({ address, data, flows: released, modules: modules.map(({ name }) => name) });
  const flows = released.map(({ name, version }) => `${name} version ${version}`).join(', ') || 'none given';
  return `Weir is ready at ${address}; data in ${data}; flows: ${flows}; modules: ${modules.length}`;
}
