// A service of these tests' own, to be killed and frozen, beside those that all share.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Instance, startHBase, startRedis, startZooKeeper } from '../../../scripts/services/instance.ts';
import type { AtEnd } from './cluster.ts';

export const ownPorts = {
  zookeeper: 27_140,
  redis: 27_141,
  master: 27_142,
  regionServer: 27_143,
  hbaseZooKeeper: 27_144,
};

type Start = (folder: string) => Promise<Instance>;

/** Resolves when it answers. It ends, and its data goes, when `atEnd` says so. */
async function own(start: Start, atEnd: AtEnd): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-cluster-service-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const instance = await start(join(folder, 'server'));
  atEnd(() => instance.stop());
  return instance;
}

export function ownZooKeeper(atEnd: AtEnd): Promise<Instance> {
  return own((folder) => startZooKeeper({ folder, port: ownPorts.zookeeper }), atEnd);
}

/** `configuration`: lines of redis.conf. */
export function ownRedis(atEnd: AtEnd, configuration: readonly string[] = []): Promise<Instance> {
  return own((folder) => startRedis({ folder, port: ownPorts.redis, configuration }), atEnd);
}

export function ownHBase(atEnd: AtEnd): Promise<Instance> {
  const { master: masterPort, regionServer: regionServerPort, hbaseZooKeeper: zookeeperPort } = ownPorts;
  return own((folder) => startHBase({ folder, masterPort, regionServerPort, zookeeperPort }), atEnd);
}
