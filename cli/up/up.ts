// `weir up`: the process around an engine. Signals, faults, and the one line that says that it is ready.

import type { CallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { type ModuleSetting, readModules } from '../../dispatch/modules/configuration.ts';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { createLogger, type Logger } from '../../platform/telemetry/logger.ts';
import { DataFolderError } from '../../store/sqlite/data-folder-error.ts';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { readTextFile } from '../read-file.ts';
import { assemble, type Engine, type EngineOptions } from './assemble.ts';
import { readFlows } from './flow-files.ts';

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
  const modules = options.modules === undefined ? [] : readModulesFile(options.modules);
  const flows = options.flows === undefined ? [] : readFlows(options.flows);
  const failPoint = process.env['WEIR_FAIL_POINT'];
  const around = failPoint === undefined ? undefined : await readAround(failPoint);
  const logger = createLogger(systemClock, (line) => process.stderr.write(`${line}\n`));
  const stopping = watchProcess(logger);
  const engine = await open({
    ...options,
    modules,
    flows,
    logger,
    dispatch: { maxRuns: options.maxRuns, lockTtlMs: options.lockTtlMs },
    onFatal: stopping.fail,
    ...(around && { around }),
  });
  console.log(readyLine(options, engine, modules));
  const exitCode = await stopping.reason;
  logger.info('stopping: calls that are out are waited for; a second signal ends at once');
  await engine.stop();
  logger.info('stopped');
  process.exitCode = exitCode;
}

function readModulesFile(path: string): readonly ModuleSetting[] {
  const reading = readModules(readTextFile('--modules', path, maxModulesBytes));
  if (reading.ok) return reading.value;
  const problems = reading.problems.map(({ line, column, path: place, message }) => {
    return `${path}:${line}:${column}: ${place === '' ? '' : `${place}: `}${message}`;
  });
  throw usageFailure(`--modules: nothing was started\n${problems.join('\n')}`);
}

/** A test wants this process to end at a named place. Loaded only then. */
async function readAround(text: string): Promise<NonNullable<EngineOptions['around']>> {
  const { readFailPoint, withFailPoint } = await import('./fail-points.ts');
  const reading = readFailPoint(text);
  if (!reading.ok) throw usageFailure(`WEIR_FAIL_POINT: ${reading.problem}`);
  return (ports) => withFailPoint(ports, reading.failPoint);
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

/** Resolves with the exit code when the process has been told to stop, or must. A second signal ends it at once. */
function watchProcess(logger: Logger): { readonly reason: Promise<number>; readonly fail: () => void } {
  const { promise: reason, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = (exitCode: number): void => {
    stopping = true;
    resolve(exitCode);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(exitCodes.interrupted);
      stop(exitCodes.ok);
    });
  }
  // Nobody knows what state a bug has left behind: the store has all that counts, and the next start goes on from there.
  process.on('uncaughtException', (error) => {
    logger.error('uncaught', error);
    process.exit(exitCodes.failed);
  });
  return { reason, fail: () => stop(exitCodes.failed) };
}
