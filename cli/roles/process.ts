// The process around roles that run until they are told to stop.

import { systemClock } from '../../platform/clock/system-clock.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { exitCodes, usageFailure } from '../failure.ts';
import type { DispatchRoleOptions } from './dispatch-role.ts';

export interface Stopping {
  /** Resolves with the exit code when the process has been told to stop, or must. */
  readonly reason: Promise<number>;
  /** The process can't go on. */
  readonly fail: () => void;
}

/** Listens for signals and faults. A second signal ends the process at once. */
export function watchProcess(logger: Logger): Stopping {
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

/**
 * What a start comes to. It may wait for a service for as long as that is away: when the process is told to stop meanwhile it ends
 * at once, since it holds nothing yet.
 */
export async function unlessStopped<Running>(
  starting: Promise<Running>,
  { reason }: Stopping,
  logger: Logger,
): Promise<Running> {
  let isStarting = true;
  void reason.then((exitCode) => {
    if (!isStarting) return;
    logger.info('stopped before it was ready');
    process.exit(exitCode);
  });
  try {
    return await starting;
  } finally {
    isStarting = false;
  }
}

/**
 * Says that it is ready, waits until it is told to stop, and stops. Sets the exit code of the process. After `limitMs` it ends without
 * having stopped, as if it had died, which costs no more than time: what it was to write can't be written while the store is away.
 */
export async function runUntilStopped(
  running: { readonly stop: () => Promise<void> },
  readyLine: string,
  stopping: Stopping,
  logger: Logger,
  limitMs?: number,
): Promise<void> {
  console.log(readyLine);
  const exitCode = await stopping.reason;
  logger.info('stopping: calls that are out are waited for; a second signal ends at once');
  const limit =
    limitMs !== undefined &&
    systemClock.after(limitMs, () => {
      logger.warn('not stopped in time: others find what is held here', { limitMs });
      process.exit(exitCode);
    });
  await running.stop();
  if (limit) limit.cancel();
  logger.info('stopped');
  process.exitCode = exitCode;
}

/** A test wants this process to end at a named place: WEIR_FAIL_POINT. Loaded only then. */
export async function readAround(): Promise<Pick<DispatchRoleOptions, 'around'>> {
  const text = process.env['WEIR_FAIL_POINT'];
  if (text === undefined) return {};
  const { readFailPoint, withFailPoint } = await import('./fail-points.ts');
  const reading = readFailPoint(text);
  if (!reading.ok) throw usageFailure(`WEIR_FAIL_POINT: ${reading.problem}`);
  return { around: (ports) => withFailPoint(ports, reading.failPoint) };
}
