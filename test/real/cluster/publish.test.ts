// Flows that are published through one dispatch and used by another, while ZooKeeper is there and while it isn't.

import { describe, expect, it, onTestFinished } from 'vitest';
import { type Dispatch, makeCluster } from './cluster.ts';
import { becomes } from './conditions.ts';
import { ownZooKeeper } from './own-service.ts';
import { flowText } from './work-flow.ts';

/** In ms: what the issue allows from a publish until every process uses it. */
const publishedMs = 10_000;

/** Publishes through one; answers after how many ms the other starts runs with it. */
async function spread(one: Dispatch, other: Dispatch, deadline: string): Promise<number> {
  const version = await one.client.publish(flowText('work', deadline));
  const publishedAtMs = performance.now();
  let number = 0;
  return becomes('the other uses the new version', async () => {
    const key = `${deadline}-${number++}`;
    await other.client.submitSurely([key]);
    return (await other.client.versionOf(key)) === version && Math.round(performance.now() - publishedAtMs);
  });
}

describe('a flow', () => {
  it('that is published through one dispatch is used by another', async () => {
    const zookeeper = await ownZooKeeper(onTestFinished);
    const cluster = await makeCluster({ services: { zookeeper: zookeeper.address } });
    const [one, other, spout] = [cluster.dispatch(1), cluster.dispatch(2), cluster.spout('spout-1')];
    await Promise.all([one.ready, other.ready, spout.ready]);
    const tookMs = await spread(one, other, '11m');
    await zookeeper.kill();
    await zookeeper.restart();
    const afterMs = await spread(one, other, '12m');
    console.log(`a publish is used elsewhere after ${tookMs} ms; after ${afterMs} ms when ZooKeeper was restarted`);
    expect(tookMs).toBeLessThan(publishedMs);
    expect(afterMs).toBeLessThan(publishedMs);
  });

  it('is known while ZooKeeper is away, if it was used before; an unknown one is to be asked for again', async () => {
    const zookeeper = await ownZooKeeper(onTestFinished);
    const cluster = await makeCluster({ services: { zookeeper: zookeeper.address } });
    const [dispatch, spout] = [cluster.dispatch(1), cluster.spout('spout-1')];
    await Promise.all([dispatch.ready, spout.ready]);
    const { client } = dispatch;
    await client.submitSurely(['before']);
    await client.allSucceed(['before']);
    await zookeeper.kill();
    const during = ['during-1', 'during-2', 'during-3'];
    expect(await client.submit(during)).toEqual(during.map(() => 'accepted'));
    expect(await client.submit(['x'], 'unknown')).toEqual([expect.stringMatching(/^UNAVAILABLE: /)]);
    await zookeeper.restart();
    await client.allSucceed(['before', ...during]);
    const unknown = await becomes('the flow is known to be absent', async () => {
      const [answer = ''] = await client.submit(['x'], 'unknown');
      return !answer.startsWith('UNAVAILABLE') && answer;
    });
    expect(unknown).toMatch(/^UNKNOWN_FLOW: /);
    expect([dispatch.isRunning, spout.isRunning]).toEqual([true, true]);
  });
});
