// What goes wrong in a cluster besides the death of processes: services die, freeze and forget, links break.

import { setTimeout as pause } from 'node:timers/promises';
import type { Instance } from '../../../scripts/services/instance.ts';
import type { Random } from '../../sim/world/random.ts';
import type { LinkProxy } from '../links/link-proxy.ts';
import type { ClusterServices } from './cluster-services.ts';
import type { Trouble } from './target.ts';

/** Shorter and longer than a session of 4 s. */
const frozenMs = { zookeeper: 6_000, redis: 3_000, hbase: 5_000 };
/** How long a service stays away that was killed, besides the time that it takes to start. */
const awayMs = 2_000;
const delayedMs = 4_000;
/** Each way; many times what it usually takes. */
const delayMs = 150;
const halfClosedMs = 5_000;
const severedMs = 3_000;

export function serviceTroubles(services: ClusterServices): Trouble[] {
  const { zookeeper, redis, hbase } = services;
  const queue = new Map<Instance, Promise<void>>();
  /** What is done to one service waits for what was done to it before. */
  const trouble = (instance: Instance, name: string, weight: number, strike: () => Promise<void>): Trouble => ({
    name,
    weight,
    strike: () => {
      const striking = (queue.get(instance) ?? Promise.resolve()).then(strike);
      queue.set(instance, striking);
      return striking;
    },
  });
  const kill = (instance: Instance) => async () => {
    await instance.kill();
    await pause(awayMs);
    await instance.restart();
  };
  const freeze = (instance: Instance, durationMs: number) => async () => {
    instance.freeze();
    await pause(durationMs);
    instance.thaw();
  };
  return [
    trouble(zookeeper, 'ZooKeeper killed', 2, kill(zookeeper)),
    trouble(zookeeper, 'ZooKeeper frozen', 2, freeze(zookeeper, frozenMs.zookeeper)),
    trouble(redis, 'Redis killed', 3, kill(redis)),
    trouble(redis, 'Redis frozen', 3, freeze(redis, frozenMs.redis)),
    trouble(redis, 'Redis flushed', 3, () => services.flushRedis()),
    trouble(hbase, 'HBase killed', 1, kill(hbase)),
    trouble(hbase, 'HBase frozen', 1, freeze(hbase, frozenMs.hbase)),
    trouble(hbase, 'region closed and opened', 4, () => services.reopenRegion()),
  ];
}

/** Each strikes a link drawn by `random` among those that work. */
export function linkTroubles(links: readonly LinkProxy[], random: Random): Trouble[] {
  const working = new Set(links);
  const trouble = (name: string, weight: number, begin: (link: LinkProxy) => void, durationMs: number): Trouble => ({
    name,
    weight,
    strike: async () => {
      if (working.size === 0) return;
      const link = random.pick([...working]);
      working.delete(link);
      begin(link);
      await pause(durationMs);
      link.heal();
      working.add(link);
    },
  });
  return [
    trouble('link cut', 8, (link) => link.cut(), 0),
    trouble('link severed', 4, (link) => link.sever(), severedMs),
    trouble('link delayed', 4, (link) => link.delay(delayMs), delayedMs),
    trouble('link half-closed', 4, (link) => link.halfClose(), halfClosedMs),
  ];
}
