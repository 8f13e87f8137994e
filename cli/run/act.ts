// `weir run retry`, `cancel` and `release`.

import { randomIds } from '../../platform/ids/random-ids.ts';
import { type Client } from '../../platform/rpc/client.ts';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { printRun, type RunArgument } from '../run-argument.ts';

export function retryRun(
  run: RunArgument,
  outcome: number | undefined,
  address: string,
  printer: Printer,
): Promise<void> {
  return act(run, 'retry', address, printer, (runs, requestId) =>
    runs.retry({ run, requestId, ...(outcome === undefined ? {} : { outcomeNumber: outcome }) }, callOptions),
  );
}

export function cancelRun(run: RunArgument, cause: string, address: string, printer: Printer): Promise<void> {
  return act(run, 'cancel', address, printer, (runs, requestId) => runs.cancel({ run, requestId, cause }, callOptions));
}

export function releaseRun(run: RunArgument, address: string, printer: Printer): Promise<void> {
  return act(run, 'release', address, printer, (runs, requestId) => runs.release({ run, requestId }, callOptions));
}

async function act(
  run: RunArgument,
  action: string,
  address: string,
  printer: Printer,
  ask: (runs: Client<typeof Runs>, requestId: string) => Promise<unknown>,
): Promise<void> {
  const requestId = randomIds().next();
  await askEngine(Runs, address, (runs) => ask(runs, requestId));
  const name = printRun(run);
  printer.line(printer.json ? toJson({ run: name, requested: action }) : `${name}: ${action} is requested`);
}
