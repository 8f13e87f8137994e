// Three spouts and a dispatch that holds nothing: what is submitted without room is found by the spout of its shard alone.

import { describe, expect, it } from 'vitest';
import { runId, shardOf } from '../../../flow/run-id.ts';
import { divide } from '../../../spout/core/ring.ts';
import { type Cluster, type Dispatch, makeCluster, sessionMs, startRoles } from './cluster.ts';
import { becomes } from './conditions.ts';
import type { WeirProcess } from './weir-process.ts';
import { business, flowName } from './work-flow.ts';

const spoutNames = ['spout-1', 'spout-2', 'spout-3'];
/** What the issue allows beyond the session timeout, in ms. */
const beyondMs = 2_000;

interface World {
  readonly cluster: Cluster;
  readonly dispatch: Dispatch;
  readonly spouts: ReadonlyMap<string, WeirProcess>;
}

/** Started, and each spout has its shards: runs of all shards were offered. */
async function world(): Promise<World> {
  const cluster = await makeCluster({ maxRuns: 1 });
  const roles = await startRoles(cluster, spoutNames);
  const keys = keysOf(cluster, () => true, 'first', 2 * cluster.shards);
  await roles.dispatch.client.submitSurely(keys);
  await roles.dispatch.client.allSucceed(keys);
  return { cluster, ...roles };
}

/** Keys of items whose shard belongs to a spout that `of` is true for. */
function keysOf({ shards }: Cluster, of: (spout: string) => boolean, prefix: string, count: number): string[] {
  const owners = divide(
    spoutNames.map((processId) => ({ processId, capacity: 1 })),
    shards,
  );
  const keys: string[] = [];
  for (let number = 0; keys.length < count; number++) {
    const key = `${prefix}-${number}`;
    const shard = shardOf(runId({ business, flow: flowName, itemKey: Buffer.from(key), generation: 1 }), shards);
    if (of(owners[shard] ?? '')) keys.push(key);
  }
  return keys;
}

/** Submits items of the shards of `spout` that wait, lets `change` happen, and says how long after it the first of them was called. */
async function firstCallAfter(
  { cluster, dispatch }: World,
  spout: string,
  prefix: string,
  change: () => Promise<unknown>,
): Promise<number> {
  const { module } = cluster;
  module.hold();
  // One fills the dispatch.
  const [filler = ''] = keysOf(cluster, (owner) => owner !== spout, `${prefix}-filler`, 1);
  await dispatch.client.submitSurely([filler]);
  await becomes('the dispatch is full', () => module.calls.some(({ key }) => key === filler));
  const keys = keysOf(cluster, (owner) => owner === spout, prefix, 20);
  await dispatch.client.submitSurely(keys);
  const changedMs = performance.now();
  const changing = change();
  module.letGo();
  await changing;
  const call = await becomes('an item of its shards is called', () =>
    module.calls.find(({ key }) => keys.includes(key)),
  );
  await becomes('all items are called', () => areCalled(cluster, keys));
  return Math.round(call.atMs - changedMs);
}

describe('the shards of a spout', () => {
  it('are scanned by the others when it was killed, within a session and 2 s', async () => {
    const all = await world();
    const tookMs = await firstCallAfter(all, 'spout-1', 'killed', async () => all.spouts.get('spout-1')?.kill());
    console.log(`after a kill: ${tookMs} ms, with sessions of ${sessionMs} ms`);
    expect(tookMs).toBeLessThanOrEqual(sessionMs + beyondMs);
  });

  it('are its own again when it is started anew under its name', async () => {
    const all = await world();
    const tookMs = await firstCallAfter(all, 'spout-1', 'restarted', async () => {
      await all.spouts.get('spout-1')?.kill();
      await all.cluster.spout('spout-1').ready;
    });
    console.log(`after a kill with a restart at once: ${tookMs} ms, the start included`);
    // It finds its place kept: it takes no session to expire, but the start of a process, which may take longer here.
    expect(tookMs).toBeLessThanOrEqual(sessionMs + beyondMs);
    // Alone it has them all: the others don't stand in for it.
    const others = [...all.spouts].filter(([name]) => name !== 'spout-1');
    await Promise.all(others.map(([, spout]) => spout.stop()));
    const keys = keysOf(all.cluster, () => true, 'alone', 40);
    await all.dispatch.client.submitSurely(keys);
    await becomes('all items are called', () => areCalled(all.cluster, keys));
  });

  it('go over sooner when it is stopped', async () => {
    const all = await world();
    const tookMs = await firstCallAfter(all, 'spout-1', 'stopped', async () => {
      expect(await all.spouts.get('spout-1')?.stop()).toEqual({ code: 0, signal: null });
    });
    console.log(`after a stop: ${tookMs} ms`);
    expect(tookMs).toBeLessThan(sessionMs);
  });
});

function areCalled({ module }: Cluster, keys: readonly string[]): boolean {
  const called = new Set(module.calls.map(({ key }) => key));
  return keys.every((key) => called.has(key));
}
