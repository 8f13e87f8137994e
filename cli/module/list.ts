// `weir module list`

import {
  Directory,
  type Endpoint,
  Health,
  type Module,
  Source,
} from '../../proto/gen/weir/directory/v1/directory_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { type Cell, table } from '../output/table.ts';
import { enumName } from '../output/text.ts';

const head = [
  'MODULE',
  'ENDPOINT',
  'HEALTH',
  'IN FLIGHT',
  'PLACES',
  'WAITING',
  'SOURCE',
  'WEIGHT',
  'VERSION',
  'UNIT',
  'LABELS',
];

export async function listModules(address: string, printer: Printer): Promise<void> {
  const { modules } = await askEngine(Directory, address, (client) => client.listModules({}, callOptions));
  if (printer.json) for (const module of modules) printer.line(toJson(moduleObject(module)));
  else printer.line(table(head, modules.flatMap(moduleRows)));
}

function moduleObject({ name, endpoints, waiting }: Module) {
  return {
    name,
    endpoints: endpoints.map((endpoint) => {
      const { address, inFlight, concurrency, weight, version, unit, labels, draining, failing } = endpoint;
      const [health, source] = [enumName(Health, endpoint.health), enumName(Source, endpoint.source)];
      return { address, health, inFlight, concurrency, source, weight, version, unit, labels, draining, failing };
    }),
    waiting,
  };
}

/** One row per endpoint; what belongs to the module stands in the first, which is there without an endpoint too. */
function moduleRows({ name, endpoints, waiting }: Module): Cell[][] {
  if (endpoints.length === 0) return [[name, 'none', '', '', '', waiting, '', '', '', '', '']];
  return endpoints.map((endpoint, index) => {
    const { address, inFlight, concurrency, source, weight, version, unit, labels } = endpoint;
    const first = index === 0;
    const module = [first ? name : '', address, stateOf(endpoint), inFlight, concurrency, first ? waiting : ''];
    return [...module, enumName(Source, source), weight, version, unit, labelsOf(labels)];
  });
}

/** Its health, and what counts more than that. */
function stateOf({ health, draining, failing }: Endpoint): string {
  if (draining) return 'DRAINING';
  return `${enumName(Health, health)}${failing ? ', FAILING' : ''}`;
}

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
