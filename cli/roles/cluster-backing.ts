// A cluster: items in HBase, coordination and configuration on ZooKeeper, run locks on Redis.

import { join } from 'node:path';
import { systemClock } from '../../platform/clock/system-clock.ts';
import { openQuorumRunLocks } from '../../platform/coordination/redis/quorum-run-locks.ts';
import { openRedisRunLocks } from '../../platform/coordination/redis/redis-run-locks.ts';
import { type RedisServer, redisServer } from '../../platform/coordination/redis/settings.ts';
import { ZooKeeperSession } from '../../platform/coordination/zookeeper/session.ts';
import { ZooKeeperConfiguration } from '../../platform/coordination/zookeeper/zookeeper-configuration.ts';
import { ZooKeeperEndpointDirectory } from '../../platform/coordination/zookeeper/zookeeper-endpoint-directory.ts';
import { ZooKeeperMembership } from '../../platform/coordination/zookeeper/zookeeper-membership.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { connectHBase } from '../../store/hbase/client/client.ts';
import { openHBaseStore } from '../../store/hbase/hbase-store.ts';
import type { ClusterSettings } from '../cluster/cluster-settings.ts';
import type { Backing } from './backing.ts';
import { seldom } from './seldom.ts';

export interface ClusterBackingOptions {
  readonly settings: ClusterSettings;
  /** Of this process, if it is the same over restarts. */
  readonly name: string | undefined;
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * Connects. HBase must be there, with its table; ZooKeeper and Redis may come later. Throws an Error that names what can't be used.
 * What is opened is closed by `opened`.
 */
export async function openClusterBacking(
  { settings, name, ids, logger }: ClusterBackingOptions,
  opened: AsyncDisposableStack,
): Promise<Backing> {
  const store = await openStore(settings, logger, opened);
  const locks = await openLocks(settings, logger, opened);
  const { servers, root, sessionMs } = settings.zookeeper;
  const session = new ZooKeeperSession({ servers, root, sessionTimeoutMs: sessionMs });
  opened.defer(() => session.close());
  opened.defer(tellOutages(session, logger));
  const onProblem = (problem: string): void => logger.error('coordination', problem);
  const configuration = new ZooKeeperConfiguration({
    session,
    onProblem,
    newId: () => ids.next(),
    ...(name !== undefined && { cacheFolder: join(settings.cache, encodeURIComponent(name)) }),
  });
  opened.defer(() => configuration.close());
  const membership = new ZooKeeperMembership(session, onProblem);
  opened.defer(() => membership.close());
  const directory = new ZooKeeperEndpointDirectory(session, onProblem);
  opened.defer(() => directory.close());
  return { store, configuration, membership, locks, directory };
}

/** How long it may take until there is a first connection, in ms, before that is told. */
const connectsWithinMs = 3_000;

/** Once when there is no connection, and once when there is one again. Answers what ends it. */
function tellOutages(session: ZooKeeperSession, logger: Logger): () => void {
  const { clock } = session;
  const beganMs = clock.monotonicMs();
  let awaySinceMs: number | undefined;
  const first = clock.after(connectsWithinMs, () => {
    awaySinceMs = beganMs;
    logger.warn('ZooKeeper is away: it is waited for');
  });
  const stop = session.listen(({ kind }) => {
    first.cancel();
    const nowMs = clock.monotonicMs();
    if (kind === 'disconnected') {
      awaySinceMs = nowMs;
      logger.warn('ZooKeeper is away: what runs goes on, and nothing new begins once the lease is over');
    }
    if (kind !== 'connected' || awaySinceMs === undefined) return;
    logger.info('ZooKeeper answers again', { awayMs: Math.round(nowMs - awaySinceMs) });
    awaySinceMs = undefined;
  });
  return () => {
    first.cancel();
    stop();
  };
}

async function openStore(
  { hbase: { servers, table, via } }: ClusterSettings,
  logger: Logger,
  opened: AsyncDisposableStack,
): Promise<Backing['store']> {
  const hbase = connectHBase({ addresses: servers, via });
  opened.defer(() => hbase.close());
  const store = await openHBaseStore({
    hbase,
    table,
    onFailure: seldom(systemClock, (leftOut: number, cause: string) =>
      logger.warn('a call of the store failed: its writes are read back', { cause, leftOut }),
    ),
  });
  opened.defer(() => store.close());
  return store;
}

async function openLocks(
  { redis, hbase }: ClusterSettings,
  logger: Logger,
  opened: AsyncDisposableStack,
): Promise<Backing['locks']> {
  const { user, password } = redis;
  const servers = redis.servers.map((server): RedisServer => {
    return { ...redisServer(server), ...(user !== undefined && { user }), ...(password !== undefined && { password }) };
  });
  const ports = { clock: systemClock, random: Math.random, logger };
  // A lock is on a run of a table: clusters with tables of other names may share a Redis.
  const settings = { keyPrefix: `weir:${hbase.table}:lock:` };
  const [only] = servers;
  const locks =
    servers.length === 1 && only
      ? await openRedisRunLocks(only, settings, ports)
      : await openQuorumRunLocks(servers, settings, ports);
  opened.defer(() => locks.close());
  return locks;
}
