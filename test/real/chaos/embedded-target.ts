// One `weir up` on SQLite, and three modules of two processes each.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Store } from '../../../store/port.ts';
import { SqliteStore } from '../../../store/sqlite/sqlite-store.ts';
import { flowFile, moduleNames } from './chain.ts';
import { SupervisedProcess } from './supervised-process.ts';
import type { Target, TargetOptions } from './target.ts';

const firstPort = 27_300;
const endpointsPerModule = 2;
/** Calls at an endpoint: fewer than there are runs, so that some wait for a place. */
const concurrency = 24;
/** Runs that the engine holds: what its death interrupts. */
const maxRuns = 96;

const program = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
const moduleScript = fileURLToPath(new URL('module-process.ts', import.meta.url));

export function createEmbeddedTarget(options: TargetOptions): Target {
  const { folder, orphans, pauseMs, listener } = options;
  const data = join(folder, 'data');
  const engineAddress = `127.0.0.1:${firstPort}`;
  const endpoints = assignEndpoints();
  const modulesFile = join(folder, 'modules.yaml');
  writeModules(modulesFile, endpoints);
  const supervised = (what: Pick<SupervisedProcess, 'name' | 'role'>) => ({
    ...what,
    orphans,
    pauseMs,
    announced: (text: string) => listener.announced(what.name, text),
    unexplained: (message: string) => listener.unexplained(message),
  });
  // A hundred starts read the same sources.
  const sources = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const engine = new SupervisedProcess({
    ...supervised({ name: 'engine', role: 'engine' }),
    commandLine: () => [
      ...[program, 'up', '--json', '--data', data, '--address', engineAddress, '--max-runs', String(maxRuns)],
      ...['--modules', modulesFile, '--flows', fileURLToPath(flowFile), '--lock-ttl-ms', String(options.lockTtlMs)],
    ],
    environment: () => {
      const failPoint = listener.nextFailPoint();
      return { ...sources, ...(failPoint !== undefined && { WEIR_FAIL_POINT: failPoint }) };
    },
  });
  const modules = [...endpoints].flatMap(([module, addresses]) =>
    addresses.map((address, index) => {
      const chance = (life: number) => String(options.seed * 1_000 + life);
      return new SupervisedProcess({
        ...supervised({ name: `${module}/${index + 1}`, role: 'module' }),
        commandLine: (life) => [moduleScript, module, address, options.ledgers, chance(life)],
        environment: () => sources,
      });
    }),
  );
  const victims = [engine, ...modules];
  return {
    victims,
    troubles: [],
    // Where there is one dispatch, nobody overtakes it.
    staleWrites: () => 0,
    askTimeoutMs: 1_000,
    addresses: [engineAddress],
    endpoints,
    async start() {
      for (const victim of victims) victim.start();
      await Promise.all(victims.map((victim) => victim.up));
    },
    async stop() {
      await engine.stop();
      await Promise.all(modules.map((module) => module.stop()));
    },
    abandon: async () => void (await Promise.all(victims.map((victim) => victim.abandon()))),
    openStore: async (): Promise<Store> => new SqliteStore(join(data, 'runs.db')),
    close: async () => {},
  };
}

function assignEndpoints(): ReadonlyMap<string, readonly string[]> {
  let port = firstPort;
  return new Map(
    moduleNames.map((name) => [name, Array.from({ length: endpointsPerModule }, () => `127.0.0.1:${++port}`)]),
  );
}

function writeModules(file: string, endpoints: ReadonlyMap<string, readonly string[]>): void {
  const modules = [...endpoints].map(([name, addresses]) => [name, { endpoints: addresses, concurrency }]);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ modules: Object.fromEntries(modules) }));
}
