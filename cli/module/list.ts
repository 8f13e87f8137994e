// `weir module list`

import { Directory, Health, type Module } from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { type Cell, table } from '../output/table.ts';
import { enumName } from '../output/text.ts';

export async function listModules(address: string, printer: Printer): Promise<void> {
  const { modules } = await askEngine(Directory, address, (client) => client.listModules({}, callOptions));
  if (printer.json) for (const module of modules) printer.line(toJson(moduleObject(module)));
  else
    printer.line(
      table(['MODULE', 'ENDPOINT', 'HEALTH', 'IN FLIGHT', 'PLACES', 'WAITING'], modules.flatMap(moduleRows)),
    );
}

function moduleObject({ name, endpoints, waiting }: Module) {
  return {
    name,
    endpoints: endpoints.map(({ address, health, inFlight, concurrency }) => {
      return { address, health: enumName(Health, health), inFlight, concurrency };
    }),
    waiting,
  };
}

/** One row per endpoint; what belongs to the module stands in the first. */
function moduleRows({ name, endpoints, waiting }: Module): Cell[][] {
  return endpoints.map(({ address, health, inFlight, concurrency }, index) => {
    const first = index === 0;
    return [first ? name : '', address, enumName(Health, health), inFlight, concurrency, first ? waiting : ''];
  });
}
