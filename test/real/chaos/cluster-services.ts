// The services of a cluster target: their own instances, to be killed at will.

import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Instance, startHBase, startRedis, startZooKeeper } from '../../../scripts/services/instance.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import { type HBaseAdmin, HBaseFailure, type Region } from '../../../store/hbase/client/port.ts';
import { openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { initTable } from '../../../store/hbase/table.ts';
import type { Store } from '../../../store/port.ts';
import type { Random } from '../../sim/world/random.ts';

export interface ClusterServices {
  readonly zookeeper: Instance;
  readonly redis: Instance;
  readonly hbase: Instance;
  readonly table: string;
  /** Every lock is gone. */
  flushRedis(): Promise<void>;
  /** Takes a region of the table from its server for a moment. */
  reopenRegion(): Promise<void>;
  openStore(): Promise<Store>;
}

/** Below 32768, away from those of other tests. */
const ports = { zookeeper: 27_390, redis: 27_391, master: 27_392, regionServer: 27_393, hbaseZooKeeper: 27_394 };
const table = 'weir-chaos';
const size = { shards: 16, regions: 4 };

/** Starts all three, empty, with the table. They are ended by `opened`. */
export async function startServices(
  folder: string,
  random: Random,
  opened: AsyncDisposableStack,
): Promise<ClusterServices> {
  const [zookeeper, redis, hbase] = await Promise.all([
    startZooKeeper({ folder: join(folder, 'zookeeper'), port: ports.zookeeper }),
    startRedis({ folder: join(folder, 'redis'), port: ports.redis }),
    startHBase({
      folder: join(folder, 'hbase'),
      masterPort: ports.master,
      regionServerPort: ports.regionServer,
      zookeeperPort: ports.hbaseZooKeeper,
    }),
  ]);
  for (const instance of [zookeeper, redis, hbase]) opened.defer(() => instance.stop());
  const client = connectHBase({ addresses: [hbase.address] });
  opened.defer(() => client.close());
  await initTable(client, table, size);
  return {
    ...{ zookeeper, redis, hbase, table },
    async flushRedis() {
      const connection = new Redis({ host: '127.0.0.1', port: ports.redis, commandTimeout: 2_000, lazyConnect: true });
      connection.on('error', () => {});
      try {
        await connection.flushall();
      } catch {
        // Away or frozen: it is being disturbed enough.
      } finally {
        connection.disconnect();
      }
    },
    reopenRegion: async () => reopen(client.admin, random.pick([...(await client.admin.regions(table))])),
    openStore: () => openHBaseStore({ hbase: client, table }),
  };
}

/** A region that was closed stays closed, whatever happens to its server: so it is opened until that has worked. */
async function reopen(admin: HBaseAdmin, region: Region): Promise<void> {
  try {
    await admin.closeRegion(region);
  } catch (error) {
    // It may be closed all the same.
    if (!(error instanceof HBaseFailure)) throw error;
  }
  for (;;) {
    try {
      return await admin.openRegion(region);
    } catch (error) {
      if (!(error instanceof HBaseFailure)) throw error;
      // It is open.
      if (error.kind === 'refused') return;
    }
  }
}
