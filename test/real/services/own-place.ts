import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Place, sharedPlace } from '../../../scripts/services/catalogue.ts';
import { runningServers } from '../../../scripts/services/process-table.ts';
import { stopServer } from '../../../scripts/services/server.ts';

export interface OwnPlace extends Place {
  /** Stops whatever runs there and removes it. */
  remove(): Promise<void>;
}

/** A place for services beside the shared one: the installed programs, but other folders and ports. */
export function makeOwnPlace(): OwnPlace {
  const root = mkdtempSync(join(tmpdir(), 'weir-services-'));
  mkdirSync(join(sharedPlace.root, 'installed'), { recursive: true });
  symlinkSync(join(sharedPlace.root, 'installed'), join(root, 'installed'));
  return {
    root,
    ports: { zookeeper: 27240, redis: 27241, hbase: { master: 27242, regionServer: 27243, zookeeper: 27244 } },
    async remove() {
      await Promise.all(runningServers(root).map(stopServer));
      rmSync(root, { recursive: true, force: true });
    },
  };
}
