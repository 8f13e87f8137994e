// Three spouts, four dispatches and three modules of two endpoints each, on a ZooKeeper, a Redis and an HBase of their own, with a
// proxy in every link.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWhole } from '../../../cli/roles/open-whole.ts';
import { Random } from '../../sim/world/random.ts';
import { LinkProxy } from '../links/link-proxy.ts';
import { flowFile, moduleNames } from './chain.ts';
import { type ClusterServices, startServices } from './cluster-services.ts';
import { linkTroubles, serviceTroubles } from './cluster-troubles.ts';
import { SupervisedProcess } from './supervised-process.ts';
import type { Target, TargetOptions } from './target.ts';

/** Of the proxies in front of dispatches, then of modules, then of services; what they lead to comes 50 later. */
const firstPort = 27_300;
const portsBehind = 50;
const dispatches = 4;
const spouts = 3;
const endpointsPerModule = 2;
/** Calls at an endpoint of each dispatch: fewer than there are runs, so that some wait for a place. */
const concurrency = 8;
/** Runs that a dispatch holds: what its death interrupts. */
const maxRuns = 48;
/** Short, so that lost sessions are seen; the longest pause is longer. */
const sessionMs = 4_000;

const program = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));
const moduleScript = fileURLToPath(new URL('module-process.ts', import.meta.url));

export function createClusterTarget(options: TargetOptions): Promise<Target> {
  return openWhole((opened) => create(options, opened));
}

async function create(options: TargetOptions, opened: AsyncDisposableStack): Promise<Target> {
  const { folder } = options;
  const random = new Random(options.seed, 'links');
  const services = await startServices(folder, random, opened);
  let port = firstPort;
  const proxies: LinkProxy[] = [];
  /** A proxy, and the address that it leads to. */
  const link = async (target?: string): Promise<{ readonly near: string; readonly far: string }> => {
    const far = target ?? `127.0.0.1:${port + portsBehind}`;
    const proxy = await LinkProxy.open({ port: port++, target: far });
    opened.defer(() => proxy.close());
    proxies.push(proxy);
    return { near: proxy.address, far };
  };
  const feeds = await inTurn(dispatches, () => link());
  const modules = new Map<string, ReadonlyArray<{ readonly near: string; readonly far: string }>>();
  for (const name of moduleNames) {
    modules.set(name, await inTurn(endpointsPerModule, () => link()));
  }
  const hbase = await link(services.hbase.address);
  const counts: Counts = { staleWrites: 0 };
  const clusterFile = join(folder, 'cluster.yaml');
  const near = (all: ReadonlyArray<{ readonly near: string }>) => all.map((each) => each.near);
  const endpoints = new Map([...modules].map(([name, links]) => [name, near(links)]));
  // JSON is YAML.
  writeFileSync(
    clusterFile,
    JSON.stringify({
      cache: join(folder, 'cache'),
      zookeeper: { servers: [(await link(services.zookeeper.address)).near], session_ms: sessionMs },
      redis: { servers: [(await link(services.redis.address)).near] },
      hbase: {
        servers: [services.hbase.address],
        table: services.table,
        via: { [services.hbase.address]: hbase.near },
      },
      dispatch: { max_runs: maxRuns, lock_ttl_ms: options.lockTtlMs },
      spout: { grace_ms: 2 * sessionMs },
      modules: Object.fromEntries([...endpoints].map(([name, at]) => [name, { endpoints: at, concurrency }])),
    }),
  );
  const processes = createProcesses(options, { clusterFile, feeds, modules }, counts);
  return assembleTarget(processes, {
    services,
    opened,
    proxies,
    random,
    counts,
    endpoints,
    addresses: near(feeds),
  });
}

interface Counts {
  staleWrites: number;
}

interface Links {
  readonly clusterFile: string;
  readonly feeds: ReadonlyArray<{ readonly near: string; readonly far: string }>;
  readonly modules: ReadonlyMap<string, ReadonlyArray<{ readonly near: string; readonly far: string }>>;
}

interface Processes {
  readonly dispatch: readonly SupervisedProcess[];
  readonly spout: readonly SupervisedProcess[];
  readonly module: readonly SupervisedProcess[];
}

function createProcesses(options: TargetOptions, { clusterFile, feeds, modules }: Links, counts: Counts): Processes {
  const { folder, ledgers, seed, orphans, pauseMs, listener } = options;
  // Hundreds of starts read the same sources.
  const sources = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const supervised = (
    what: Pick<SupervisedProcess, 'name' | 'role'>,
    commandLine: (life: number) => readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ) =>
    new SupervisedProcess({
      ...{ ...what, orphans, pauseMs, commandLine },
      environment: () => ({ ...sources, ...environment }),
      announced: (text) => listener.announced(what.name, text),
      said: (line) => {
        if (line.includes('a stale write was refused')) counts.staleWrites++;
      },
      unexplained: (message) => listener.unexplained(message),
    });
  const command = (role: 'spout' | 'dispatch', name: string) => [
    program,
    role,
    '--json',
    '--cluster',
    clusterFile,
    '--name',
    name,
  ];
  return {
    dispatch: feeds.map(({ near, far }, index) => {
      const name = `dispatch-${index + 1}`;
      const arguments_ = [...command('dispatch', name), '--flows', fileURLToPath(flowFile)];
      const at = { WEIR_DISPATCH_ADDRESS: far, WEIR_DISPATCH_ADVERTISE: near };
      return supervised({ name, role: 'dispatch' }, () => arguments_, at);
    }),
    spout: Array.from({ length: spouts }, (_, index) => {
      const name = `spout-${index + 1}`;
      return supervised({ name, role: 'spout' }, () => command('spout', name));
    }),
    module: [...modules].flatMap(([module, links]) =>
      links.map(({ far }, index) => {
        const chance = (life: number) => String(seed * 1_000 + life);
        const name = `${module}/${index + 1}`;
        return supervised({ name, role: 'module' }, (life) => [moduleScript, module, far, ledgers, chance(life)]);
      }),
    ),
  };
}

function assembleTarget(
  { dispatch, spout, module }: Processes,
  parts: {
    readonly services: ClusterServices;
    readonly opened: AsyncDisposableStack;
    readonly proxies: readonly LinkProxy[];
    readonly random: Random;
    readonly counts: Counts;
  } & Pick<Target, 'endpoints' | 'addresses'>,
): Target {
  const { services, opened, proxies, random, counts, endpoints, addresses } = parts;
  const victims = [...dispatch, ...spout, ...module];
  const startAll = async (processes: readonly SupervisedProcess[]) => {
    for (const each of processes) each.start();
    await Promise.all(processes.map((each) => each.up));
  };
  return {
    ...{ victims, endpoints, addresses },
    troubles: [...serviceTroubles(services), ...linkTroubles(proxies, random)],
    staleWrites: () => counts.staleWrites,
    // A summary reads all executions, on two cores that many processes share.
    askTimeoutMs: 30_000,
    async start() {
      await startAll([...module]);
      // The first one stores the flow.
      await startAll(dispatch.slice(0, 1));
      await startAll([...dispatch.slice(1), ...spout]);
    },
    async stop() {
      await Promise.all(spout.map((each) => each.stop()));
      await Promise.all(dispatch.map((each) => each.stop()));
      await Promise.all(module.map((each) => each.stop()));
    },
    abandon: async () => void (await Promise.all(victims.map((victim) => victim.abandon()))),
    openStore: () => services.openStore(),
    close: () => opened.disposeAsync(),
  };
}

async function inTurn<Result>(times: number, make: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < times; index++) results.push(await make());
  return results;
}
