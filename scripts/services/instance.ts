// A test's own server, to be killed and frozen at will, beside the shared ones. It ends with the test process, however
// that ends: the kernel ties the two together where it can (server.ts), the exit of the process does it elsewhere, and
// what outlives a SIGKILL all the same is stopped by the next start or `npm run services` in this checkout.

import { resolve } from 'node:path';
import { sharedPlace } from './catalogue.ts';
import { ServiceFailure } from './failure.ts';
import { type HBasePlace, hbaseServer, installHBase } from './hbase/hbase.ts';
import type { Say } from './installation.ts';
import { stopOrphans, thisProcess } from './owner.ts';
import { type RunningServer, serverIn } from './process-table.ts';
import { installRedis, type RedisPlace, redisServer } from './redis/redis.ts';
import { ensureAnswering, logOf, type Server, signalServer, stopServer } from './server.ts';
import { installZooKeeper, type ZooKeeperPlace, zookeeperServer } from './zookeeper/zookeeper.ts';

/** A server of one test process. Its methods must not run at the same time. */
export interface Instance {
  /** `127.0.0.1:port`; of HBase the region server. */
  readonly address: string;
  readonly folder: string;
  /** What the server has to say. */
  readonly logPath: string;
  /** Of the present process, or of the last one. */
  readonly pid: number;
  /** SIGKILL; resolves when the process is gone. The data stays. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Kills it if it runs, starts it on the same data and ports; resolves when it answers. */
  restart(): Promise<void>;
  /** Ends it for good. The folder stays, for whoever made it. */
  stop(): Promise<void>;
}

/** Starts a Redis of this process's own; resolves when it answers. */
export async function startRedis(place: RedisPlace): Promise<Instance> {
  const redis = await installRedis(sharedPlace.root, sayNothing);
  return await startInstance(redisServer(redis, absolute(place)));
}

/** Starts a ZooKeeper of this process's own; resolves when it answers. */
export async function startZooKeeper(place: ZooKeeperPlace): Promise<Instance> {
  const jars = await installZooKeeper(sharedPlace.root, sayNothing);
  return await startInstance(zookeeperServer(jars, absolute(place)));
}

/** Starts an HBase of this process's own (10 to 20 s); resolves when it answers. */
export async function startHBase(place: HBasePlace): Promise<Instance> {
  const jars = await installHBase(sharedPlace.root, sayNothing);
  return await startInstance(hbaseServer(jars, absolute(place)));
}

function absolute<T extends { readonly folder: string }>(place: T): T {
  return { ...place, folder: resolve(place.folder) };
}

const sayNothing: Say = () => {};
/** The servers of this process that may run, by folder. */
const running = new Map<string, RunningServer>();

process.on('exit', () => {
  for (const server of running.values()) signalServer(server, 'SIGKILL');
});

async function startInstance(server: Server): Promise<Instance> {
  await stopOrphans(sharedPlace.root);
  const other = serverIn(server.folder);
  if (other !== undefined) {
    throw new ServiceFailure(`${server.folder} is in use by process ${other.pid}, owned by ${other.owner}`);
  }
  const instance = new OwnServer(server);
  await instance.restart();
  return instance;
}

class OwnServer implements Instance {
  readonly address: string;
  readonly folder: string;
  readonly logPath: string;
  readonly #server: Server;

  constructor(server: Server) {
    this.address = server.address;
    this.folder = server.folder;
    this.logPath = logOf(server);
    this.#server = server;
  }

  get pid(): number {
    return this.#process.pid;
  }

  async kill(): Promise<void> {
    await stopServer(this.#process);
  }

  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  async restart(): Promise<void> {
    const before = running.get(this.folder);
    if (before !== undefined) await stopServer(before);
    running.set(this.folder, await ensureAnswering(this.#server, { root: sharedPlace.root, owner: thisProcess() }));
  }

  async stop(): Promise<void> {
    await this.kill();
    running.delete(this.folder);
  }

  get #process(): RunningServer {
    const server = running.get(this.folder);
    if (server === undefined) throw new Error(`the server in ${this.folder} was stopped`);
    return server;
  }

  #signal(signal: NodeJS.Signals): void {
    if (!signalServer(this.#process, signal)) throw new Error(`process ${this.pid} in ${this.folder} is gone`);
  }
}
