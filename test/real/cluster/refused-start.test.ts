// Starts that can't succeed: each ends by itself, with an exit code and words for whoever started it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Cluster, makeCluster } from './cluster.ts';
import { timed } from './conditions.ts';
import { ownRedis } from './own-service.ts';
import type { WeirProcess } from './weir-process.ts';

/** In ms: as long as HBase is waited for, and a start on a busy machine. */
const endsWithinMs = 60_000;
const nobody = '127.0.0.1:27149';

const dispatch = (cluster: Cluster, environment: NodeJS.ProcessEnv): WeirProcess =>
  cluster.weir(['dispatch', '--cluster', cluster.file], { WEIR_DISPATCH_ADDRESS: '127.0.0.1:27110', ...environment });

/** What it said, when it has ended with this code. */
async function refusal(process: WeirProcess, code: number): Promise<string> {
  const { answer, tookMs } = await timed('the process ends', process.ended, endsWithinMs);
  const said = process.lines.join('\n');
  expect(answer, said).toEqual({ code, signal: null });
  // A stack is for bugs.
  expect(said).not.toMatch(/^\s+at /m);
  console.log(`ended after ${tookMs} ms: ${said}`);
  return said;
}

describe('a process does not start', () => {
  it('with a wrong cluster file, of which it tells every problem', async () => {
    const cluster = await makeCluster();
    const file = join(cluster.folder, 'wrong.yaml');
    writeFileSync(
      file,
      `zookeeper: { servers: ["127.0.0.1:27210"], session_ms: 5 }
redis: { servers: ["127.0.0.1:27220", "127.0.0.1:27221"] }
hbase: { tabel: weir }
dispatch: { address: nowhere }
`,
    );
    const said = await refusal(cluster.weir(['spout', '--cluster', file]), 2);
    for (const part of ['session_ms', 'redis.servers', 'tabel', 'hbase.servers', 'dispatch.address']) {
      expect(said).toContain(part);
    }
  });

  it('without HBase', async () => {
    const said = await refusal(dispatch(await makeCluster(), { WEIR_HBASE_SERVERS: nobody }), 1);
    expect(said).toContain('HBase');
    expect(said).toContain(nobody);
  });

  it('without its table', async () => {
    const said = await refusal(dispatch(await makeCluster(), { WEIR_HBASE_TABLE: 'not-there' }), 2);
    expect(said).toContain('not-there');
    expect(said).toContain('weir store init');
  });

  it('on a Redis that drops keys when it is full', async () => {
    const redis = await ownRedis(onTestFinished, ['maxmemory-policy allkeys-lru']);
    const said = await refusal(dispatch(await makeCluster(), { WEIR_REDIS_SERVERS: redis.address }), 2);
    expect(said).toContain('maxmemory-policy is allkeys-lru');
  });

  it('at an address that is taken', async () => {
    const cluster = await makeCluster();
    await cluster.dispatch(1).ready;
    const said = await refusal(
      cluster.weir(['dispatch', '--cluster', cluster.file], { WEIR_DISPATCH_ADDRESS: '127.0.0.1:27110' }),
      1,
    );
    expect(said).toContain('127.0.0.1:27110');
  });
});
