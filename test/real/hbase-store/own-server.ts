// An HBase of this test's own, to be killed and frozen.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHBase } from '../../../scripts/services/instance.ts';

export async function startOwnServer() {
  const folder = mkdtempSync(join(tmpdir(), 'weir-hbase-'));
  const server = await startHBase({ folder, masterPort: 27280, regionServerPort: 27281, zookeeperPort: 27282 });
  return {
    server,
    async dispose() {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
