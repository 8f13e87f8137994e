// W1 on a cluster of 1, 2 and 4 dispatches, one spout, and the three services, each in processes of its own: what an item costs in
// each of them. Beside it the store alone (cluster-floor.ts), on the same HBase.

import { setTimeout as pause } from 'node:timers/promises';
import { storeFloor } from './cluster-floor.ts';
import { type Load, trickle, work } from './cluster-load.ts';
import { type ClusterProcesses, startProcesses } from './cluster-processes.ts';
import { type ClusterServices, startServices } from './cluster-services.ts';
import { type Pids, type SpentByRole, spentSince, spentSoFar } from './cluster-spent.ts';
import { peakRssBytes } from './measured-process.ts';
import { percentile } from './statistics.ts';
import { endings, finished, type RunEnd } from './workloads.ts';

const dispatchCounts = [1, 2, 4];
/** Of the items: those for each dispatch before the measured ones, which warm compilers and caches; those of a burst. */
const shares = { warm: 0.25, warmBurst: 0.1, burst: 0.5 };
/** So many that each write of the floor goes out nearly alone. */
const manyShards = 4_096;
/** For the latency while nothing waits. */
const steadyItems = 250;
/** How long it is watched what idle processes spend. */
const idleMs = 5_000;

type Role = 'dispatch' | 'spout' | 'module' | 'hbase' | 'redis' | 'zookeeper';
const roles: readonly Role[] = ['dispatch', 'spout', 'module', 'hbase', 'redis', 'zookeeper'];
/** HBase uses other system calls than those that are counted. */
const countedRoles = roles.filter((role) => role !== 'hbase');
type Figures = Readonly<Record<string, number>>;

/**
 * Figures by name. Those of a number of dispatches begin with it: `2d.itemsPerSecond` for items that begin with their submission,
 * `2d.burst.itemsPerSecond` for items that wait and are offered by a spout.
 */
export async function clusterCost(items: number, payloadBytes: number): Promise<Record<string, number>> {
  const services = await startServices();
  try {
    const floor = await storeFloor(services, { runs: items, payloadBytes });
    const alone = await storeFloor(services, { runs: items, payloadBytes, shards: manyShards });
    const figures = { ...prefixed('store', { ...floor }), ...prefixed('storeAlone', { ...alone }) };
    for (const dispatches of dispatchCounts) {
      const table = `dispatches-${dispatches}`;
      await services.createTable(table);
      const processes = await startProcesses(services, table, dispatches);
      try {
        const measured = new Measured(services, processes, items, payloadBytes);
        Object.assign(figures, prefixed(`${dispatches}d`, await measured.all()));
        const isLast = dispatches === dispatchCounts.at(-1);
        if (isLast) Object.assign(figures, prefixed('disk', { ...(await services.diskPerRun(table, measured.done)) }));
      } finally {
        await processes.stop();
      }
    }
    return figures;
  } finally {
    await services.stop();
  }
}

/** One cluster while it is measured. */
class Measured {
  /** Items so far. */
  done = 0;
  readonly #services: ClusterServices;
  readonly #processes: ClusterProcesses;
  readonly #pids: Pids<Role>;
  readonly #items: number;
  readonly #payloadBytes: number;

  constructor(services: ClusterServices, processes: ClusterProcesses, items: number, payloadBytes: number) {
    const { zookeeper, redis, hbase } = services;
    this.#services = services;
    this.#processes = processes;
    this.#pids = { ...processes.pids, hbase: [hbase.pid], redis: [redis.pid], zookeeper: [zookeeper.pid] };
    this.#items = items;
    this.#payloadBytes = payloadBytes;
  }

  async all(): Promise<Figures> {
    await this.#work({ manner: 'streamed', prefix: 'warm', share: shares.warm * this.#processes.runs.length });
    const streamed = await this.#work({ manner: 'streamed', prefix: 'item', share: 1 });
    const before = spentSoFar(this.#pids);
    await pause(idleMs);
    const idle = spentSince(before, spentSoFar(this.#pids));
    const load = {
      manner: 'streamed',
      prefix: 'steady',
      items: steadyItems,
      payloadBytes: this.#payloadBytes,
    } as const;
    await trickle(this.#processes, load);
    await this.#finished(steadyItems);
    await this.#work({ manner: 'burst', prefix: 'warmburst', share: shares.warmBurst });
    const burst = await this.#work({ manner: 'burst', prefix: 'burst', share: shares.burst });
    const ends = await endings(this.#runs);
    return {
      ...streamed,
      ...runFigures(ends, 'item'),
      ...prefixed('steady', runFigures(ends, 'steady')),
      ...prefixed('burst', { ...burst, ...runFigures(ends, 'burst') }),
      ...perRole(roles, 'IdleCpuMsPerS', (role) => (idle[role].cpu * 1e6) / idleMs),
      ...perRole(roles, 'PeakMiB', (role) => memoryMiB(this.#pids[role])),
    };
  }

  async #work(what: Pick<Load, 'manner' | 'prefix'> & { readonly share: number }): Promise<Figures> {
    const items = Math.ceil(this.#items * what.share);
    const logBefore = this.#services.logBytes();
    const before = spentSoFar(this.#pids);
    const startedMs = performance.now();
    await work(this.#processes, { ...what, items, payloadBytes: this.#payloadBytes });
    const seconds = (performance.now() - startedMs) / 1_000;
    const spent = spentSince(before, spentSoFar(this.#pids));
    const logBytes = this.#services.logBytes() - logBefore;
    await this.#finished(items);
    return { itemsPerSecond: items / seconds, ...costs(spent, items), walBytesPerItem: logBytes / items };
  }

  async #finished(items: number): Promise<void> {
    this.done += items;
    await finished(this.#runs, this.done);
  }

  get #runs(): ClusterProcesses['runs'][number] {
    const [runs] = this.#processes.runs;
    if (!runs) throw new Error('a cluster without a dispatch was started');
    return runs;
  }
}

function costs(spent: SpentByRole<Role>, items: number): Figures {
  return {
    ...perRole(roles, 'CpuMsPer1000', (role) => (spent[role].cpu / items) * 1e6),
    ...perRole(countedRoles, 'BytesPerItem', (role) => spent[role].transferred / items),
  };
}

function runFigures(ends: readonly RunEnd[], prefix: string): Figures {
  const these = ends.filter(({ key }) => key.startsWith(`${prefix}-`));
  const latencies = these.map(({ createdMs, endedMs }) => endedMs - createdMs);
  return {
    writesPerItem: mean(these.map(({ changes }) => changes)),
    claimsPerItem: mean(these.map(({ claims }) => claims)),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function perRole(of: readonly Role[], suffix: string, value: (role: Role) => number): Figures {
  return Object.fromEntries(of.map((role) => [`${role}${suffix}`, value(role)]));
}

function prefixed(prefix: string, figures: Figures): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${prefix}.${name}`, value]));
}

/** Of one process of the role, the largest. */
function memoryMiB(pids: readonly number[]): number {
  return Math.max(...pids.map((pid) => peakRssBytes(pid))) / 1_048_576;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
