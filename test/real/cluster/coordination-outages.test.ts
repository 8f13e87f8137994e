// ZooKeeper and Redis go away under a running cluster: what is held goes on, what comes is taken in, and all of it ends.

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Instance } from '../../../scripts/services/instance.ts';
import { makeCluster } from './cluster.ts';
import { type Outage, Weather, weatherMaxRuns } from './outage.ts';
import { ownPorts, ownRedis, ownZooKeeper } from './own-service.ts';

const opened = new AsyncDisposableStack();
let weather: Weather;
let zookeeper: Instance;
let redis: Instance;

beforeAll(async () => {
  const atEnd = opened.defer.bind(opened);
  [zookeeper, redis] = await Promise.all([ownZooKeeper(atEnd), ownRedis(atEnd)]);
  const services = { zookeeper: zookeeper.address, redis: redis.address };
  weather = new Weather(await makeCluster({ services, maxRuns: weatherMaxRuns }, atEnd));
  await weather.start();
});
afterAll(() => opened.disposeAsync());

const zooKeeperShows = { shows: 'ZooKeeper is away', showsEnd: 'ZooKeeper answers again' };
const redisShows = { shows: 'Redis is away', showsEnd: 'Redis answers again' };

const outages: ReadonlyArray<readonly [string, () => Omit<Outage, 'name' | 'stops'>]> = [
  ['ZooKeeper killed', () => ({ ...killed(zookeeper), ...zooKeeperShows })],
  ['ZooKeeper frozen', () => ({ ...frozen(zookeeper), ...zooKeeperShows })],
  ['Redis killed', () => ({ ...killed(redis), ...redisShows })],
  ['Redis frozen', () => ({ ...frozen(redis), ...redisShows })],
  ['Redis flushed', () => ({ begin: flush, end: () => {} })],
];

function killed(instance: Instance) {
  return { begin: () => instance.kill(), end: () => instance.restart() };
}

function frozen(instance: Instance) {
  return { begin: () => instance.freeze(), end: () => instance.thaw() };
}

async function flush(): Promise<void> {
  const client = new Redis({ port: ownPorts.redis, lazyConnect: true });
  try {
    await client.connect();
    await client.flushall();
  } finally {
    client.disconnect();
  }
}

describe('a cluster', () => {
  it.each(outages)('survives: %s', async (name, outage) => {
    const { recoveredMs } = await weather.survive({ ...outage(), name, stops: false });
    console.log(`${name}: all items had ended ${recoveredMs} ms after it was over`);
  });

  it('ends as usual afterwards', async () => {
    expect(await weather.stop()).toEqual([0, 0, 0, 0]);
  });
});
