// Several processes' stores on one table that want the same runs at once.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { IndexEntries, RunId } from '../../../flow/run.ts';
import { shardOf } from '../../../flow/run-id.ts';
import { sharedPlace } from '../../../scripts/services/catalogue.ts';
import { connectHBase } from '../../../store/hbase/client/client.ts';
import type { HBase } from '../../../store/hbase/client/port.ts';
import { type HBaseStore, openHBaseStore } from '../../../store/hbase/hbase-store.ts';
import { verifyShard } from '../../../store/hbase/verification.ts';
import type { IndexHit } from '../../../store/port.ts';
import { alarm, changes, control, event, holder, id, startMs } from '../../contract/store-fixtures.ts';
import { makeTable, type OwnTable } from './own-table.ts';

const shards = 4;
const processes = 4;

let own: OwnTable;
const clients: HBase[] = [];
const stores: HBaseStore[] = [];

beforeAll(async () => {
  own = await makeTable(shards, 2);
  for (let index = 0; index < processes; index++) {
    const hbase = connectHBase({ addresses: [`127.0.0.1:${sharedPlace.ports.hbase.regionServer}`] });
    clients.push(hbase);
    stores.push(await openHBaseStore({ hbase, table: own.table }));
  }
});

afterAll(async () => {
  for (const store of stores) await store.close();
  for (const client of clients) await client.close();
  await own.dispose();
});

async function createAll(
  prefix: string,
  count: number,
  entries: IndexEntries = { ready: true, timerMs: startMs },
): Promise<RunId[]> {
  const runs = Array.from({ length: count }, (_, index) => id(`${prefix}${index}`));
  const results = await Promise.all(
    runs.map((run) => stores[0]!.create({ run, writeId: 'c', changes: changes({ control: control(run) }), entries })),
  );
  expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['done']));
  return runs;
}

async function expectSound(): Promise<void> {
  const totals = { runs: 0, entries: 0, missing: 0, stale: 0, repaired: 0 };
  const onFinding = (finding: unknown) => expect(finding).toBeUndefined();
  for (let shard = 0; shard < shards; shard++) {
    await verifyShard(shard, { hbase: own.hbase, table: own.table, shards, repair: false, onFinding }, totals);
  }
}

const claimOf = (run: RunId, writeId: string) => ({
  run,
  writeId,
  expected: { epoch: 0, version: 1 },
  holder,
  entries: { ready: false, leaseMs: startMs },
  changes: changes({ alarms: [alarm('OVERLOADED/mail.parse')] }),
});

it('a run is claimed once, and every claim raises its alarm once', async () => {
  const runs = await createAll('claimed', 300);
  const answers = await Promise.all(
    runs.flatMap((run) => stores.map((store, index) => store.claim(claimOf(run, `w${index}`)))),
  );
  for (let begin = 0; begin < answers.length; begin += processes) {
    const kinds = answers.slice(begin, begin + processes).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['done', 'fenced', 'fenced', 'fenced']);
  }
  expect((await stores[1]!.alarms(10)).alarms).toMatchObject([{ key: 'OVERLOADED/mail.parse', count: 300n }]);
  await expectSound();
});

it('a claim and a promotion of one run leave its entries right, whoever was first', async () => {
  const runs = await createAll('promoted', 200, { ready: false, timerMs: startMs + 1 });
  const due: IndexHit[] = [];
  for (let shard = 0; shard < shards; shard++) {
    const { hits } = await stores[0]!.scan({ shard, kind: 'timer', untilMs: startMs + 1, limit: 1_000 });
    due.push(...hits.filter(({ run }) => runs.includes(run)));
  }
  expect(due).toHaveLength(200);
  const byShard = (shard: number) => due.filter(({ run }) => shardOf(run, shards) === shard);
  const [claims] = await Promise.all([
    Promise.all(runs.filter((_, index) => index % 2).map((run) => stores[2]!.claim(claimOf(run, 'w')))),
    ...Array.from({ length: shards }, (_, shard) => stores[0]!.promote(shard, byShard(shard))),
    ...Array.from({ length: shards }, (_, shard) => stores[1]!.promote(shard, byShard(shard))),
  ]);
  expect(new Set(claims.map(({ kind }) => kind))).toEqual(new Set(['done']));
  for (const [index, run] of runs.entries()) {
    const stored = await stores[3]!.load(run);
    expect(stored?.entries).toEqual(
      index % 2 ? { ready: false, leaseMs: startMs } : { ready: true, timerMs: startMs + 60_000 },
    );
  }
  await expectSound();
});

it('events that all post to one run at once are all there, each once', async () => {
  const [run] = (await createAll('posted', 1)) as [RunId];
  const ids = Array.from({ length: 300 }, (_, index) => `e${index}`);
  const posted = await Promise.all(ids.flatMap((each) => stores.map((store) => store.post(run, event(each)))));
  const done = posted.filter(({ kind }) => kind === 'done');
  expect([done.length, posted.length - done.length]).toEqual([300, 900]);
  expect(new Set(posted.map(({ kind }) => kind))).toEqual(new Set(['done', 'duplicate']));
  expect((await stores[0]!.inbox(run))?.events.map((each) => each.id).toSorted()).toEqual(ids.toSorted());
  await expectSound();
});

it('an item gets one flow', async () => {
  const key = Uint8Array.of(1, 2);
  const answers = await Promise.all(stores.map((store, index) => store.assign('mail', key, `flow-${index}`)));
  const standing = await stores[0]!.assigned('mail', key);
  for (const answer of answers) expect(answer).toEqual({ kind: 'done', flow: standing });
});
