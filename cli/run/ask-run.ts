import { randomIds } from '../../platform/ids/random-ids.ts';
import type { Client } from '../../platform/rpc/client.ts';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';

/** Asks a run to do something, and says so. `name` is the run as it is printed. */
export async function askRun(
  name: string,
  action: string,
  address: string,
  printer: Printer,
  ask: (runs: Client<typeof Runs>, requestId: string) => Promise<unknown>,
): Promise<void> {
  const requestId = randomIds().next();
  await askEngine(Runs, address, (runs) => ask(runs, requestId));
  printer.line(printer.json ? toJson({ run: name, requested: action }) : `${name}: ${action} is requested`);
}
