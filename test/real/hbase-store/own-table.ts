// A table for one test on the shared HBase, dropped after it: what is deleted leaves tombstones, so none is used twice.

import { randomBytes } from 'node:crypto';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import type { HBase } from '../../../store/hbase/client/port.ts';
import { initTable } from '../../../store/hbase/table.ts';

export interface OwnTable {
  readonly hbase: HBase;
  readonly table: string;
  /** Drops the table. */
  dispose(): Promise<void>;
}

/** Few regions: the tests share one small server. */
export async function makeTable(shards = 16, regions = 2): Promise<OwnTable> {
  const hbase = connectHBase({ addresses: [`127.0.0.1:${sharedPlace.ports.hbase.regionServer}`] });
  const table = `store-test-${randomBytes(6).toString('hex')}`;
  await initTable(hbase, table, { shards, regions });
  return {
    hbase,
    table,
    async dispose() {
      await hbase.admin.deleteTable(table);
      await hbase.close();
    },
  };
}
