// A region server that is killed under load, and one that stands still: what was acknowledged is there, no run is torn from its
// index, and what was in doubt can be found out.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Instance } from '../../../scripts/services/instance.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import type { HBase } from '../../../store/hbase/client/port.ts';
import { type HBaseStore, openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { initTable } from '../../../store/hbase/table.ts';
import { verifyShard } from '../../../store/hbase/verification.ts';
import { changes, control, event, execution, field, holder, id, startMs } from '../../contract/store-fixtures.ts';
import { type Doubts, makeCertain } from './certain-writes.ts';
import { startOwnServer } from './own-server.ts';

const table = 'killed';
const shards = 8;
const drivers = 40;
const commitsPerRun = 4;

let server: Instance;
let own: Awaited<ReturnType<typeof startOwnServer>>;
let hbase: HBase;
let store: HBaseStore;

beforeAll(async () => {
  own = await startOwnServer();
  ({ server } = own);
  hbase = connectHBase({ addresses: [server.address], callTimeoutMs: 2_000, operationTimeoutMs: 5_000 });
  await initTable(hbase, table, { shards, regions: 2 });
  store = await openHBaseStore({ hbase, table });
});

afterAll(async () => {
  await store.close();
  await hbase.close();
  await own.dispose();
});

interface Load {
  /** By key: the version that was acknowledged last. */
  readonly acknowledged: Map<string, number>;
  readonly doubts: Doubts;
  commits: number;
  stopping: boolean;
}

/** One run from its creation to its last commit, moving its index entries with every second one. */
async function drive(key: string, load: Load): Promise<void> {
  const run = id(key);
  const held = { ready: false, leaseMs: startMs + load.commits };
  const body = changes({ control: control(run), fields: { 'input/body': field(key) } });
  const created = { run, writeId: `${key}-1`, changes: body, holder, entries: held };
  const certain = (writeId: string, version: number | undefined, send: () => Promise<{ kind: string }>) =>
    makeCertain(
      store,
      { run, writeId, expected: version === undefined ? undefined : { epoch: 1, version }, send },
      load.doubts,
    );
  await certain(created.writeId, undefined, () => store.create(created));
  load.acknowledged.set(key, 1);
  let epoch = 1;
  for (let version = 1; version <= commitsPerRun; version++) {
    const writeId = `${key}-${version + 1}`;
    const next = changes({ fields: { [`s${version}/out`]: field(key) }, executions: [execution(`s${version}`)] });
    const write = { run, writeId, expected: { epoch, version }, changes: next };
    // Let go, taken again, and so on: each of these moves entries.
    const letsGo = version % 2 === 1;
    const entries = letsGo ? { ready: true, timerMs: startMs + version } : held;
    await certain(writeId, version, () =>
      letsGo ? store.commit({ ...write, release: entries }) : store.claim({ ...write, holder, entries }),
    );
    if (!letsGo) epoch++;
    load.acknowledged.set(key, version + 1);
    load.commits++;
  }
}

function start(load: Load, prefix: string): Promise<unknown> {
  const driver = async (number: number) => {
    for (let index = 0; !load.stopping; index++) await drive(`${prefix}-${number}-${index}`, load);
  };
  return Promise.all(Array.from({ length: drivers }, (_, number) => driver(number)));
}

async function until(condition: () => boolean): Promise<void> {
  const giveUpMs = performance.now() + 100_000;
  while (!condition()) {
    if (performance.now() > giveUpMs) throw new Error('it did not come to that');
    await delay(10);
  }
}

async function check(load: Load): Promise<void> {
  for (const [key, version] of load.acknowledged) {
    const stored = await store.load(id(key));
    expect(stored?.fence.version, key).toBe(version);
    expect(stored?.writeId).toBe(`${key}-${version}`);
    // Whole or not at all: as many outputs and executions as the version says.
    expect(stored?.run.fields.size, key).toBe(version);
    expect(await store.executions(id(key)), key).toHaveLength(version - 1);
  }
  const totals = { runs: 0, entries: 0, missing: 0, stale: 0, repaired: 0 };
  for (let shard = 0; shard < shards; shard++) {
    const options = {
      hbase,
      table,
      shards,
      repair: false,
      onFinding: (finding: unknown) => expect(finding).toBeUndefined(),
    };
    await verifyShard(shard, options, totals);
  }
  expect(totals).toMatchObject({ missing: 0, stale: 0 });
  expect(totals.runs).toBeGreaterThanOrEqual(load.acknowledged.size);
}

it('killed under load, twice: nothing acknowledged is lost, nothing is torn, doubts are resolved', {
  timeout: 300_000,
}, async () => {
  const load: Load = { acknowledged: new Map(), doubts: { unknown: 0, applied: 0 }, commits: 0, stopping: false };
  const done = start(load, 'k');
  for (let life = 0; life < 2; life++) {
    const before = load.commits;
    await until(() => load.commits > before + 1_000);
    await server.kill();
    await server.restart();
  }
  const before = load.commits;
  await until(() => load.commits > before + 200);
  load.stopping = true;
  await done;
  expect(load.doubts.unknown, 'writes were under way when it was killed').toBeGreaterThan(0);
  await check(load);
});

it('standing still: writes are unknown in time, and found out later', { timeout: 120_000 }, async () => {
  const load: Load = { acknowledged: new Map(), doubts: { unknown: 0, applied: 0 }, commits: 0, stopping: false };
  const done = start(load, 'f');
  await until(() => load.commits > 200);
  server.freeze();
  await until(() => load.doubts.unknown >= drivers);
  server.thaw();
  const before = load.commits;
  await until(() => load.commits > before + 200);
  load.stopping = true;
  await done;
  await check(load);
});

it('an event that was posted in doubt is there once', { timeout: 60_000 }, async () => {
  const run = id('posted');
  const write = { run, writeId: 'w', changes: changes({ control: control(run) }), entries: { ready: false } };
  expect(await store.create(write)).toEqual({ kind: 'done' });
  server.freeze();
  const first = await store.post(run, event('e'));
  server.thaw();
  expect(first.kind).toBe('unknown');
  await expect.poll(async () => (await store.post(run, event('e'))).kind, { timeout: 30_000 }).toBe('duplicate');
  expect((await store.inbox(run))?.events.map((each) => each.id)).toEqual(['e']);
});
