// ZooKeeper, Redis and HBase of a measurement, empty, in a folder of their own.
//
// Owns the servers and the folder: both are gone after `stop`.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Instance, startHBase, startRedis, startZooKeeper } from '../scripts/services/instance.ts';
import { connectHBase } from '../store/hbase/client/client.ts';
import type { HBase } from '../store/hbase/client/port.ts';
import { initTable } from '../store/hbase/table.ts';

/** Below 32768, away from those of tests. The dispatches take the ones after. */
const ports = { zookeeper: 27_290, redis: 27_291, master: 27_292, regionServer: 27_293, hbaseZooKeeper: 27_294 };
export const firstDispatchPort = 27_295;
/** As `weir store init` makes it. */
const size = { shards: 64, regions: 16 };

/** `<region>/<family>/<file>`; what begins with a dot is not in use. */
const storeFile = /\/[0-9a-f]{32}\/w\/[0-9a-f]+$/;
/** How long a compaction may take. */
const compactionMs = 60_000;

export interface DiskPerRun {
  /** Bytes in the files as memory was written out. */
  readonly flushedBytes: number;
  /** Bytes after a major compaction, which forgets what was deleted. */
  readonly compactedBytes: number;
}

export interface ClusterServices {
  readonly folder: string;
  readonly zookeeper: Instance;
  readonly redis: Instance;
  readonly hbase: Instance;
  readonly client: HBase;
  /** Makes a table; with as many shards as `weir store init` makes, unless it is said. */
  createTable(name: string, shards?: number): Promise<void>;
  /** Of a table that holds so many runs. Nothing may be written to it meanwhile. */
  diskPerRun(table: string, runs: number): Promise<DiskPerRun>;
  /** Bytes of all logs that are written ahead, also of those that are no longer needed. */
  logBytes(): number;
  stop(): Promise<void>;
}

export async function startServices(): Promise<ClusterServices> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-cluster-'));
  const opened = new AsyncDisposableStack();
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const zookeeper = await startZooKeeper({ folder: join(folder, 'zookeeper'), port: ports.zookeeper });
    opened.defer(() => zookeeper.stop());
    const redis = await startRedis({ folder: join(folder, 'redis'), port: ports.redis });
    opened.defer(() => redis.stop());
    const hbase = await startHBase({
      folder: join(folder, 'hbase'),
      masterPort: ports.master,
      regionServerPort: ports.regionServer,
      zookeeperPort: ports.hbaseZooKeeper,
    });
    opened.defer(() => hbase.stop());
    const client = connectHBase({ addresses: [hbase.address] });
    opened.defer(() => client.close());
    const root = join(hbase.folder, 'data', 'root');
    return {
      ...{ folder, zookeeper, redis, hbase, client },
      createTable: async (name, shards = size.shards) => void (await initTable(client, name, { ...size, shards })),
      diskPerRun: (table, runs) => diskPerRun(client, join(root, 'data', 'default', table), table, runs),
      logBytes: () => bytesBelow(join(root, 'WALs')) + bytesBelow(join(root, 'oldWALs')),
      stop: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** A server may move or remove a file while it is looked for: that one counts as nothing. */
function bytesBelow(folder: string, isCounted: (path: string) => boolean = () => true): number {
  return filesBelow(folder)
    .filter(isCounted)
    .map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, bytes) => sum + bytes, 0);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Flushes a table, has it compacted, and reads the sizes of its files; what was compacted stays beside what came of it for minutes. */
async function diskPerRun({ admin }: HBase, folder: string, table: string, runs: number): Promise<DiskPerRun> {
  const storeFiles = () => filesBelow(folder).filter((path) => storeFile.test(path));
  for (const region of await admin.regions(table)) await admin.flushRegion(region);
  const flushed = new Set(storeFiles());
  const flushedBytes = bytesBelow(folder, (path) => flushed.has(path));
  for (const region of await admin.regions(table)) await admin.compactRegion(region);
  const stores = new Set([...flushed].map((path) => dirname(path)));
  const giveUpMs = performance.now() + compactionMs;
  const compacted = () => storeFiles().filter((path) => !flushed.has(path));
  while (new Set(compacted().map((path) => dirname(path))).size < stores.size) {
    if (performance.now() > giveUpMs) throw new Error(`${table} was not compacted after ${compactionMs} ms`);
    await pause(100);
  }
  const made = new Set(compacted());
  return { flushedBytes: flushedBytes / runs, compactedBytes: bytesBelow(folder, (path) => made.has(path)) / runs };
}
