// Processes that start before the services are there, end while they are away, or have the same name.

import { describe, expect, it, onTestFinished } from 'vitest';
import { type Cluster, makeCluster, startRoles } from './cluster.ts';
import { becomes, timed } from './conditions.ts';
import { ownPorts, ownRedis, ownZooKeeper } from './own-service.ts';
import type { WeirProcess } from './weir-process.ts';

/** In ms: calls that are out are waited for 5 s, and services that don't answer for a moment. */
const stopsWithinMs = 30_000;

async function stopped(name: string, process: WeirProcess, lastWord = 'info stopped'): Promise<void> {
  const { answer, tookMs } = await timed(`${name} ends`, process.stop(), stopsWithinMs);
  console.log(`${name}: ended after ${tookMs} ms`);
  expect(answer, process.lines.join('\n')).toEqual({ code: 0, signal: null });
  expect(process.lines.at(-1)).toContain(lastWord);
}

async function called({ module }: Cluster, key: string): Promise<void> {
  await becomes('the item is called', () => module.calls.some((call) => call.key === key));
}

describe('a cluster that starts', () => {
  it('without ZooKeeper comes up when ZooKeeper does', async () => {
    const cluster = await makeCluster({ services: { zookeeper: `127.0.0.1:${ownPorts.zookeeper}` } });
    const [dispatch, spout] = [cluster.dispatch(1), cluster.spout('spout-1')];
    await becomes('both look for it', () =>
      [dispatch, spout].every(({ lines }) => lines.some((line) => line.includes('ZooKeeper is away'))),
    );
    const impatient = cluster.spout('spout-2');
    await becomes('another one looks for it', () => impatient.lines.some((line) => line.includes('ZooKeeper is away')));
    await stopped('a spout that waits for ZooKeeper', impatient, 'stopped before it was ready');
    await ownZooKeeper(onTestFinished);
    await Promise.all([dispatch.ready, spout.ready]);
    await dispatch.client.submitSurely(['a']);
    await dispatch.client.allSucceed(['a']);
  });

  it('without Redis goes on without, and with it when it comes', async () => {
    const cluster = await makeCluster({ services: { redis: `127.0.0.1:${ownPorts.redis}` } });
    const { dispatch } = await startRoles(cluster, ['spout-1']);
    await dispatch.client.submitSurely(['a']);
    await dispatch.client.allSucceed(['a']);
    await ownRedis(onTestFinished);
    await becomes('it is found', () => dispatch.lines.some((line) => line.includes('Redis answers again')));
    await dispatch.client.submitSurely(['b']);
    await dispatch.client.allSucceed(['a', 'b']);
  });
});

describe('a cluster that is told to stop', () => {
  it('ends while ZooKeeper and Redis are away, and what was held ends later', async () => {
    const [zookeeper, redis] = await Promise.all([ownZooKeeper(onTestFinished), ownRedis(onTestFinished)]);
    const cluster = await makeCluster({ services: { zookeeper: zookeeper.address, redis: redis.address } });
    const { dispatch, spouts } = await startRoles(cluster, ['spout-1']);
    cluster.module.hold();
    await dispatch.client.submitSurely(['held']);
    await called(cluster, 'held');
    zookeeper.freeze();
    redis.freeze();
    await Promise.all([stopped('dispatch', dispatch), ...[...spouts.values()].map((spout) => stopped('spout', spout))]);
    zookeeper.thaw();
    redis.thaw();
    cluster.module.letGo();
    const again = await startRoles(cluster, ['spout-1']);
    await again.dispatch.client.allSucceed(['held']);
  });
});

describe('two processes of one name', () => {
  it('do no harm: each item is processed, by both or either', async () => {
    const cluster = await makeCluster({ maxRuns: 4 });
    const { dispatch: one, spouts } = await startRoles(cluster, ['spout-1']);
    const other = cluster.dispatch(2, 'dispatch-1');
    const sameSpout = cluster.spout('spout-1');
    await Promise.all([other.ready, sameSpout.ready]);
    const keys = Array.from({ length: 60 }, (_, index) => `twice-${index}`);
    await Promise.all([one.client.submitSurely(keys.slice(0, 30)), other.client.submitSurely(keys.slice(30))]);
    await one.client.allSucceed(keys);
    expect(cluster.module.calls.map(({ key }) => key).sort()).toEqual([...keys].sort());
    // The other goes on when one leaves.
    await Promise.all([stopped('dispatch', one), ...[...spouts.values()].map((spout) => stopped('spout', spout))]);
    const more = keys.map((key) => `${key}-more`);
    await other.client.submitSurely(more);
    await other.client.allSucceed([...keys, ...more]);
  });
});
