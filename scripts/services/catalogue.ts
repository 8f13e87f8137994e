// The three services that a cluster of ours needs, as `npm run services` runs them. Ports lie below 32768, where the kernel
// gives none away to outgoing connections.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hbaseInstallation, hbaseServer, hbaseVersion, installHBase } from './hbase/hbase.ts';
import { installedFolder, type Say } from './installation.ts';
import { findRedis, installRedis, redisServer, redisVersion } from './redis/redis.ts';
import type { Server } from './server.ts';
import { installZooKeeper, zookeeperInstallation, zookeeperServer, zookeeperVersion } from './zookeeper/zookeeper.ts';

/** In the order in which they are shown. */
export const serviceNames = ['zookeeper', 'redis', 'hbase'] as const;

export type ServiceName = (typeof serviceNames)[number];

export interface Ports {
  readonly zookeeper: number;
  readonly redis: number;
  /** Clients read and write on `regionServer` and make tables on `master`; `zookeeper` is HBase's own. */
  readonly hbase: { readonly master: number; readonly regionServer: number; readonly zookeeper: number };
}

/** Where a set of services lives. */
export interface Place {
  /** The `.services` folder of a checkout. Absolute. */
  readonly root: string;
  readonly ports: Ports;
}

/** What `npm run services` and the real tests share. */
export const sharedPlace: Place = {
  root: join(import.meta.dirname, '../../.services'),
  ports: {
    zookeeper: 27210,
    redis: 27220,
    hbase: { master: 27230, regionServer: 27231, zookeeper: 27232 },
  },
};

export interface Service {
  isInstalled(root: string): boolean;
  install(root: string, say: Say): Promise<void>;
  /** Only of an installed service, as the next. */
  version(root: string): Promise<string>;
  server(place: Place): Server;
  /** How to reach it besides its address, for people. */
  hint(ports: Ports): string;
}

export const services: Readonly<Record<ServiceName, Service>> = {
  zookeeper: {
    isInstalled: (root) => existsSync(installedFolder(root, zookeeperInstallation)),
    install: async (root, say) => void (await installZooKeeper(root, say)),
    version: async () => zookeeperVersion,
    server: ({ root, ports }) =>
      zookeeperServer(installedFolder(root, zookeeperInstallation), {
        folder: serverFolder(root, 'zookeeper'),
        port: ports.zookeeper,
      }),
    hint: () => 'connection string',
  },
  redis: {
    isInstalled: (root) => findRedis(root) !== undefined,
    install: async (root, say) => void (await installRedis(root, say)),
    version: async (root) => await redisVersion(installedRedis(root)),
    server: ({ root, ports }) =>
      redisServer(installedRedis(root), { folder: serverFolder(root, 'redis'), port: ports.redis }),
    hint: (ports) => `redis://127.0.0.1:${ports.redis}`,
  },
  hbase: {
    isInstalled: (root) => existsSync(installedFolder(root, hbaseInstallation)),
    install: async (root, say) => void (await installHBase(root, say)),
    version: async () => hbaseVersion,
    server: ({ root, ports: { hbase } }) =>
      hbaseServer(installedFolder(root, hbaseInstallation), {
        folder: serverFolder(root, 'hbase'),
        masterPort: hbase.master,
        regionServerPort: hbase.regionServer,
        zookeeperPort: hbase.zookeeper,
      }),
    hint: ({ hbase }) => `region server; master 127.0.0.1:${hbase.master}, own ZooKeeper 127.0.0.1:${hbase.zookeeper}`,
  },
};

/** Configuration, data and log of a shared service. */
export function serverFolder(root: string, name: ServiceName): string {
  return join(root, name);
}

function installedRedis(root: string) {
  const program = findRedis(root);
  if (program === undefined) throw new Error('redis-server is not installed: install() comes first');
  return program;
}
