// `weir run retry`, `rewind`, `cancel` and `release`.

import type { RetryRequest } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { callOptions } from '../engine.ts';
import type { Printer } from '../output/printer.ts';
import { printRun, type RunArgument } from '../run-argument.ts';
import { askRun } from './ask-run.ts';

/** How a run that has ended is to go on. */
export interface ReopenOptions {
  /** The outcome that the caller has seen. */
  readonly outcome?: number;
  readonly version: 'keep' | 'released' | number;
}

export function retryRun(run: RunArgument, options: ReopenOptions, address: string, printer: Printer): Promise<void> {
  return askRun(printRun(run), 'retry', address, printer, (runs, requestId) =>
    runs.retry({ run, requestId, ...reopening(options) }, callOptions),
  );
}

export function rewindRun(
  run: RunArgument,
  step: string,
  options: ReopenOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  return askRun(printRun(run), 'rewind', address, printer, (runs, requestId) =>
    runs.rewind({ run, requestId, step, ...reopening(options) }, callOptions),
  );
}

export function cancelRun(run: RunArgument, cause: string, address: string, printer: Printer): Promise<void> {
  return askRun(printRun(run), 'cancel', address, printer, (runs, requestId) =>
    runs.cancel({ run, requestId, cause }, callOptions),
  );
}

export function releaseRun(run: RunArgument, address: string, printer: Printer): Promise<void> {
  return askRun(printRun(run), 'release', address, printer, (runs, requestId) =>
    runs.release({ run, requestId }, callOptions),
  );
}

function reopening({ outcome, version }: ReopenOptions): { outcomeNumber?: number; version?: RetryRequest['version'] } {
  return {
    ...(outcome === undefined ? {} : { outcomeNumber: outcome }),
    ...(version === 'released' && { version: { case: 'released', value: true } }),
    ...(typeof version === 'number' && { version: { case: 'flowVersion', value: version } }),
  };
}
