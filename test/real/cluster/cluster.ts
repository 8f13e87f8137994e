// A cluster of these tests: its own root on ZooKeeper and its own table on HBase, the module in the process of the test, and `weir`
// processes that the test starts and ends.
//
// Ownership: a Cluster owns all that it made; it is gone when the test has finished.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ZooKeeperSession } from '../../../platform/coordination/zookeeper/session.ts';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import { initTable } from '../../../store/hbase/table.ts';
import { Orphans } from '../chaos/orphans.ts';
import { removeTree } from '../zookeeper/fixture.ts';
import { DispatchClient } from './dispatch-client.ts';
import { WeirProcess } from './weir-process.ts';
import { flowName, flowText, moduleName } from './work-flow.ts';
import { serveWork, type WorkModule } from './work-module.ts';

/** In ms: what the issue names for a takeover. */
export const sessionMs = 4_000;
/** Few, and few regions: the tests share one small server. */
const size = { shards: 16, regions: 2 };
const moduleAddress = '127.0.0.1:27119';
const firstDispatchPort = 27_110;

/** `host:port` of each. */
export interface ServiceAddresses {
  readonly zookeeper: string;
  readonly redis: string;
  readonly hbase: string;
}

const { ports } = sharedPlace;
export const sharedServices: ServiceAddresses = {
  zookeeper: `127.0.0.1:${ports.zookeeper}`,
  redis: `127.0.0.1:${ports.redis}`,
  hbase: `127.0.0.1:${ports.hbase.regionServer}`,
};

export interface ClusterOptions {
  /** Instead of those that all tests share. */
  readonly services?: Partial<ServiceAddresses>;
  /** Runs that a dispatch holds. */
  readonly maxRuns?: number;
}

export interface Cluster {
  readonly folder: string;
  /** Path of the cluster file. */
  readonly file: string;
  readonly table: string;
  /** Node of ZooKeeper. */
  readonly root: string;
  readonly services: ServiceAddresses;
  readonly shards: number;
  readonly module: WorkModule;
  /** Starts `dispatch-<number>`, from 1, with the flow; does not wait. Each number has its own address. */
  dispatch(number: number, name?: string): Dispatch;
  /** Starts a spout of that name; does not wait. */
  spout(name: string): WeirProcess;
  /** Any `weir` command. */
  weir(commandLine: readonly string[], environment?: NodeJS.ProcessEnv): WeirProcess;
}

export interface Dispatch extends WeirProcess {
  readonly client: DispatchClient;
}

/** Hears what is to be done at the end, in the reverse order. */
export type AtEnd = (action: () => Promise<void> | void) => void;

/** All of it but the processes, which the test starts. It is gone when the test has finished, or when `atEnd` says so. */
export async function makeCluster(
  { services: own = {}, maxRuns = 64 }: ClusterOptions = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Cluster> {
  const orphans = new Orphans();
  atEnd(() => orphans.close());
  const folder = mkdtempSync(join(tmpdir(), 'weir-cluster-'));
  orphans.leave(folder);
  const services = { ...sharedServices, ...own };
  const { table, root } = await makePlaces(services, atEnd);
  const module = await serveWork(moduleAddress);
  atEnd(() => module.stop());
  const file = join(folder, 'cluster.yaml');
  writeFileSync(file, clusterText({ services, root, table, maxRuns, cache: join(folder, 'cache') }));
  const flows = join(folder, 'flows');
  mkdirSync(flows);
  writeFileSync(join(flows, `${flowName}.flow.yaml`), flowText());
  const processes: WeirProcess[] = [];
  atEnd(async () => void (await Promise.all(processes.map((each) => each.kill()))));
  const weir = (commandLine: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    // Many starts read the same sources.
    const sources = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/weir-compiled') };
    const started = new WeirProcess({ commandLine, environment: { ...sources, ...environment }, orphans });
    processes.push(started);
    return started;
  };
  return {
    ...{ folder, file, table, root, services, shards: size.shards, module, weir },
    dispatch(number, name = `dispatch-${number}`) {
      const address = `127.0.0.1:${firstDispatchPort + number - 1}`;
      const role = ['dispatch', '--json', '--cluster', file, '--name', name, '--flows', flows];
      const started = weir(role, { WEIR_DISPATCH_ADDRESS: address });
      const client = new DispatchClient(address);
      atEnd(() => client.close());
      return Object.assign(started, { client });
    },
    spout: (spout) => weir(['spout', '--json', '--cluster', file, '--name', spout]),
  };
}

/** Starts a dispatch and spouts, and waits until they are ready. */
export async function startRoles(
  cluster: Cluster,
  spouts: readonly string[],
): Promise<{ readonly dispatch: Dispatch; readonly spouts: ReadonlyMap<string, WeirProcess> }> {
  const dispatch = cluster.dispatch(1);
  const started = new Map(spouts.map((name) => [name, cluster.spout(name)]));
  await Promise.all([dispatch, ...started.values()].map(({ ready }) => ready));
  return { dispatch, spouts: started };
}

/** A new table, and a node of ZooKeeper that nobody uses. */
export async function makePlaces(
  { zookeeper, hbase: address }: ServiceAddresses,
  atEnd: AtEnd,
): Promise<{ readonly table: string; readonly root: string }> {
  const table = `cluster-test-${randomBytes(6).toString('hex')}`;
  const root = `/${table}`;
  const hbase = connectHBase({ addresses: [address] });
  await initTable(hbase, table, size);
  atEnd(async () => {
    await hbase.admin.deleteTable(table);
    await hbase.close();
  });
  // That of a test's own ZooKeeper goes with it.
  if (zookeeper === sharedServices.zookeeper) atEnd(() => removeRoot(root));
  return { table, root };
}

async function removeRoot(root: string): Promise<void> {
  const session = new ZooKeeperSession({ servers: [sharedServices.zookeeper], root });
  try {
    await session.connected(sessionMs);
    await removeTree(session);
  } finally {
    await session.close();
  }
}

interface ClusterFileOptions {
  readonly services: ServiceAddresses;
  readonly root: string;
  readonly table: string;
  readonly maxRuns: number;
  readonly cache: string;
}

/** JSON is YAML. */
export function clusterText({ services, root, table, maxRuns, cache }: ClusterFileOptions): string {
  return JSON.stringify({
    cache,
    zookeeper: { servers: [services.zookeeper], root, session_ms: sessionMs },
    redis: { servers: [services.redis] },
    hbase: { servers: [services.hbase], table },
    dispatch: { max_runs: maxRuns, drain_ms: 5_000 },
    spout: { grace_ms: 2 * sessionMs },
    modules: { [moduleName]: { endpoints: [moduleAddress], concurrency: 1_000 } },
  });
}
