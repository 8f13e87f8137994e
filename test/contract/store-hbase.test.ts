// The store of a cluster on HBase in memory: the suite of all stores, and what happens when processes meet. On a real HBase:
// test/real/hbase-store.

import { describe, expect, it } from 'vitest';
import { shardOf } from '../../flow/run-id.ts';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { HBaseFixture } from '../../store/hbase/hbase-fixture.ts';
import { HBaseStore, StoreClosedError } from '../../store/hbase/hbase-store.ts';
import { verifyShard } from '../../store/hbase/verification.ts';
import { assignmentsContract } from './assignments.contract.ts';
import { storeContract } from './store.contract.ts';
import { alarm, changes, control, event, holder, id, otherHolder, startMs } from './store-fixtures.ts';

const shards = 16;

function openOn(hbase: HBaseFixture): HBaseStore {
  return new HBaseStore({ hbase, table: 'weir' }, shards);
}

storeContract('hbase in memory', async () => {
  const store = openOn(new HBaseFixture());
  return { store, dispose: () => store.close() };
});

assignmentsContract('hbase in memory', async () => {
  const subject = openOn(new HBaseFixture());
  return { subject, dispose: () => subject.close() };
});

const ready = { ready: true, timerMs: startMs + 60_000 };
const held = { ready: false, leaseMs: startMs + 10_000 };
const run = id('a');
const create = { run, writeId: 'w1', changes: changes({ control: control(run) }), entries: ready };
const claim = { run, writeId: 'w2', expected: { epoch: 0, version: 1 }, holder, entries: held, changes: changes() };

/** Two processes on one table, and a run that both know. */
async function twoProcesses() {
  const hbase = new HBaseFixture();
  const [one, other] = [openOn(hbase), openOn(hbase)];
  expect(await one.create(create)).toEqual({ kind: 'done' });
  await other.load(run);
  return { hbase, one, other };
}

async function verified(hbase: HBaseFixture, repair = false) {
  const totals = { runs: 0, entries: 0, missing: 0, stale: 0, repaired: 0 };
  for (let shard = 0; shard < shards; shard++) {
    await verifyShard(shard, { hbase, table: 'weir', shards, repair, onFinding: () => {} }, totals);
  }
  return totals;
}

describe('two processes', () => {
  it('claim a run once', async () => {
    const { one, other } = await twoProcesses();
    const answers = await Promise.all([
      one.claim(claim),
      other.claim({ ...claim, writeId: 'w3', holder: otherHolder }),
    ]);
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['done', 'fenced']);
  });

  it('a claim goes on over a promotion, which moves entries and no fence', async () => {
    const hbase = new HBaseFixture();
    const [spout, dispatch] = [openOn(hbase), openOn(hbase)];
    const asleep = { ready: false, timerMs: startMs + 5 };
    await spout.create({ ...create, entries: asleep });
    await dispatch.load(run);
    const shard = shardOf(run, shards);
    const { hits } = await spout.scan({ shard, kind: 'timer', limit: 10 });
    expect(await spout.promote(shard, hits)).toBe(1);
    expect(await dispatch.claim(claim)).toEqual({ kind: 'done' });
    expect(await verified(hbase)).toEqual({ runs: 1, entries: 1, missing: 0, stale: 0, repaired: 0 });
  });

  it('create a generation at once: it is there for whoever comes second, however its reads fall', async () => {
    const hbase = new HBaseFixture();
    const [one, other] = [openOn(hbase), openOn(hbase)];
    await one.create({
      ...create,
      changes: changes({ control: control(run, State.SUCCEEDED) }),
      entries: { ready: false },
    });
    const next = id('a', 2);
    const second = { ...create, run: next, changes: changes({ control: control(next) }), supersedes: run };
    const getMany = hbase.getMany.bind(hbase);
    hbase.getMany = async (table, [own, former], options) => {
      hbase.getMany = getMany;
      if (!own || !former) throw new Error('both generations are read');
      const before = await getMany(table, [own], options);
      expect(await one.create({ ...second, writeId: 'w2' })).toEqual({ kind: 'done' });
      return [...before, ...(await getMany(table, [former], options))];
    };
    expect(await other.create({ ...second, writeId: 'w3' })).toEqual({ kind: 'exists' });
  });

  it('post at once: each event has its own place', async () => {
    const { one, other } = await twoProcesses();
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const posted = await Promise.all(ids.map((each, index) => (index % 2 ? one : other).post(run, event(each))));
    expect(new Set(posted.map(({ kind }) => kind))).toEqual(new Set(['done']));
    const view = await one.inbox(run);
    expect(view?.events.map((each) => each.id).toSorted()).toEqual(ids.toSorted());
  });

  it('raise one alarm without waiting for each other, and none is lost', async () => {
    const { one, other } = await twoProcesses();
    for (const store of [one, other, one]) await store.raise(alarm('OVERLOADED/mail.parse'));
    const elsewhere = id('b');
    await other.create({ ...create, run: elsewhere, changes: changes({ control: control(elsewhere) }) });
    const alarms = [alarm('OVERLOADED/mail.parse', startMs + 7)];
    await other.claim({ ...claim, run: elsewhere, changes: changes({ alarms }) });
    const all = (await one.alarms(10)).alarms;
    expect(all).toMatchObject([{ key: 'OVERLOADED/mail.parse', count: 4n, lastMs: BigInt(startMs + 7) }]);
  });
});

describe('a doubtful answer', () => {
  it('leaves the run as it was or as it was to be, and the next write knows', async () => {
    const { hbase, one } = await twoProcesses();
    hbase.tell = () => ({ kind: 'unknown', cause: 'no answer' });
    expect(await one.claim(claim)).toEqual({ kind: 'unknown', cause: 'no answer' });
    hbase.tell = (result) => result;
    expect((await one.peek(run))?.writeId).toBe('w2');
    expect(await one.claim(claim), 'sent again').toEqual({ kind: 'fenced' });
    const release = { ready: true, timerMs: startMs };
    const commit = { run, writeId: 'w3', expected: { epoch: 1, version: 2 }, changes: changes(), release };
    expect(await one.commit(commit)).toEqual({ kind: 'done' });
    expect(await verified(hbase)).toMatchObject({ entries: 2, missing: 0, stale: 0 });
  });

  it('about an alarm counts it once or not, never hides a later one', async () => {
    const hbase = new HBaseFixture();
    const store = openOn(hbase);
    await store.raise(alarm('a'));
    hbase.tell = () => ({ kind: 'unknown', cause: 'no answer' });
    await store.raise(alarm('a'));
    hbase.tell = (result) => result;
    await store.raise(alarm('a'));
    expect((await store.alarms(10)).alarms).toMatchObject([{ count: 3n }]);
  });
});

describe('an old read', () => {
  it('refuses nothing: the present is asked', async () => {
    const { hbase, one } = await twoProcesses();
    const stranger = openOn(hbase);
    hbase.show = () => undefined;
    expect(await stranger.post(run, event('e'))).toMatchObject({ kind: 'unknown' });
    expect(await stranger.claim(claim)).toMatchObject({ kind: 'unknown' });
    const second = id('a', 2);
    const next = { ...create, run: second, changes: changes({ control: control(second) }), supersedes: run };
    expect(await stranger.create(next)).toMatchObject({ kind: 'unknown' });
    hbase.show = (row) => row;
    expect(await stranger.create(next)).toEqual({ kind: 'refused' });
    expect(await one.claim({ ...claim, changes: changes({ control: control(run, State.FAILED) }) })).toEqual({
      kind: 'done',
    });
  });

  it('of an event that is consumed does not leave it there', async () => {
    const { hbase, one, other } = await twoProcesses();
    await one.post(run, event('e'));
    let hidden = 1;
    hbase.show = (row) => (hidden-- > 0 ? undefined : row);
    expect(await one.claim({ ...claim, changes: changes({ consumed: ['e'] }) })).toEqual({ kind: 'done' });
    expect((await other.inbox(run))?.events).toEqual([]);
  });
});

describe('groups', () => {
  it('are as many as there are shards, however many writes wait', async () => {
    const hbase = new HBaseFixture();
    const store = openOn(hbase);
    const runs = Array.from({ length: 400 }, (_, index) => id(`k${index}`));
    await Promise.all(
      runs.map((each) => store.create({ ...create, run: each, changes: changes({ control: control(each) }) })),
    );
    expect(hbase.calls.write).toBeLessThanOrEqual(2 * shards);
  });

  it('with one write that is refused are sent again, each write for itself', async () => {
    const hbase = new HBaseFixture();
    const store = new HBaseStore({ hbase, table: 'weir' }, 1);
    await store.create(create);
    hbase.groups.length = 0;
    const runs = ['b', 'a', 'c'].map((key) => id(key));
    const answers = await Promise.all(
      runs.map((each) => store.create({ ...create, run: each, changes: changes({ control: control(each) }) })),
    );
    expect(answers.map(({ kind }) => kind)).toEqual(['done', 'exists', 'done']);
    expect(hbase.groups).toEqual([1, 3]);
  });

  it('beyond what may wait writes are unknown at once, and later ones go through', async () => {
    const hbase = new HBaseFixture();
    const store = new HBaseStore({ hbase, table: 'weir', maxWaitingWrites: 1 }, shards);
    const [created, posted] = await Promise.all([store.create(create), store.post(run, event('e'))]);
    expect([created.kind, posted.kind]).toEqual(['done', 'unknown']);
    expect(await store.post(run, event('e'))).toEqual({ kind: 'done' });
  });

  it('events that join a write count among what waits', async () => {
    const hbase = new HBaseFixture();
    await openOn(hbase).create(create);
    const small = new HBaseStore({ hbase, table: 'weir', maxWaitingBytes: 1_000 }, shards);
    const posts = Array.from({ length: 60 }, (_, index) => small.post(run, event(`event-${index}`)));
    const kinds = new Set((await Promise.all(posts)).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['done', 'unknown']));
    expect(await small.post(run, event('later'))).toMatchObject({ kind: 'done' });
  });

  it('a claim of what was just loaded needs no read of its own', async () => {
    const { hbase, other } = await twoProcesses();
    const before = hbase.calls.read;
    await other.claim(claim);
    expect(hbase.calls.read).toBe(before);
  });
});

describe('verification', () => {
  it('finds what is lost and what is stale, and mends it', async () => {
    const { hbase, one } = await twoProcesses();
    await one.post(run, event('e'));
    const shard = shardOf(run, shards);
    const rows: Buffer[] = [];
    for (const letter of ['q', 't', 'i']) {
      const startRow = Buffer.from(`${shard.toString(16).padStart(4, '0')}${letter}`);
      const stopRow = Buffer.concat([startRow, Buffer.of(255)]);
      rows.push(...(await hbase.scan('weir', { startRow, stopRow }).next()).map(({ row }) => row));
    }
    expect(rows).toHaveLength(3);
    const qualifiers = [Buffer.from('v')];
    // As what brought the rows: nothing that deletes by mistake has greater ones.
    const stamps: Record<number, number> = { [0x71]: 2, [0x74]: 2, [0x69]: 1 };
    await hbase.mutateRows('weir', [
      {
        row: rows[0]!,
        conditions: [],
        mutations: [
          ...rows.map((row) => ({
            kind: 'delete' as const,
            row,
            family: 'w',
            timestamp: stamps[row[4]!]!,
            qualifiers,
          })),
          // A lease that no run has.
          {
            kind: 'put',
            row: Buffer.concat([Buffer.from(`${shard.toString(16).padStart(4, '0')}l`), rows[1]!.subarray(5)]),
            family: 'w',
            timestamp: 2,
            cells: [{ qualifier: qualifiers[0]!, value: Buffer.alloc(35) }],
          },
        ],
      },
    ]);
    expect(await verified(hbase)).toEqual({ runs: 1, entries: 1, missing: 3, stale: 1, repaired: 0 });
    expect(await verified(hbase, true)).toMatchObject({ missing: 3, stale: 1, repaired: 4 });
    expect(await verified(hbase)).toEqual({ runs: 1, entries: 3, missing: 0, stale: 0, repaired: 0 });
    expect(await one.claim({ ...claim, changes: changes({ consumed: ['e'] }) })).toEqual({ kind: 'done' });
    expect(await verified(hbase)).toEqual({ runs: 1, entries: 1, missing: 0, stale: 0, repaired: 0 });
  });
});

describe('after close', () => {
  it('writes are unknown and reads throw; what waited is answered', async () => {
    const store = openOn(new HBaseFixture());
    const asked = store.create(create);
    await store.close();
    await store.close();
    expect(await asked).toEqual({ kind: 'done' });
    const unknown = { kind: 'unknown', cause: 'the store is closed' };
    expect(await store.claim(claim)).toEqual(unknown);
    expect(await store.post(run, event('e'))).toEqual(unknown);
    expect(await store.assign('mail', Uint8Array.of(1), 'intake')).toEqual(unknown);
    await expect(store.load(run)).rejects.toThrow(StoreClosedError);
  });
});
