// What every store promises (store/port.ts). Run on each adapter by store.test.ts.

import { describe, expect, it } from 'vitest';
import type { IndexEntries, RunId } from '../../flow/run.ts';
import { identityOf, shardOf } from '../../flow/run-id.ts';
import { Reason, State, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Fence, IndexHit, IndexKind, ScanPosition, Store } from '../../store/port.ts';
import {
  alarm,
  changes,
  control,
  event,
  execution,
  field,
  holder,
  id,
  otherHolder,
  startMs,
  step,
} from './store-fixtures.ts';

export type OpenStore = () => Promise<{ store: Store; dispose: () => Promise<void> }>;

const leaseMs = startMs + 10_000;
const held: IndexEntries = { ready: false, leaseMs };
const ready: IndexEntries = { ready: true, timerMs: startMs + 60_000 };
const nothing: IndexEntries = { ready: false };

let writes = 0;
const writeId = () => `w${writes++}`;

/** Creates an unheld run: fence (0, 1). */
async function createReady(store: Store, run: RunId, entries = ready, more = {}): Promise<void> {
  const created = await store.create({
    run,
    writeId: writeId(),
    changes: changes({ control: control(run, State.OPEN, more), fields: { 'input/body': field('hello') } }),
    entries,
  });
  expect(created).toEqual({ kind: 'done' });
}

/** Creates a run already claimed: fence (1, 1). */
async function createHeld(store: Store, run: RunId): Promise<void> {
  const created = await store.create({
    run,
    writeId: writeId(),
    changes: changes({ control: control(run), fields: { 'input/body': field('hello') }, steps: { parse: step() } }),
    holder,
    entries: held,
  });
  expect(created).toEqual({ kind: 'done' });
}

/** Creates a run and ends it: fence (1, 2). */
async function createEnded(store: Store, run: RunId, state: State = State.SUCCEEDED): Promise<void> {
  await createHeld(store, run);
  const committed = await store.commit({
    run,
    writeId: writeId(),
    expected: { epoch: 1, version: 1 },
    changes: changes({ control: control(run, state) }),
    release: nothing,
  });
  expect(committed).toEqual({ kind: 'done' });
}

async function scanAll(store: Store, kind: IndexKind, shard: number, limit = 1_000): Promise<IndexHit[]> {
  const hits: IndexHit[] = [];
  let after: ScanPosition | undefined;
  do {
    const page = await store.scan({ shard, kind, limit, ...(after === undefined ? {} : { after }) });
    expect(page.hits.length).toBeLessThanOrEqual(limit);
    hits.push(...page.hits);
    after = page.next;
  } while (after !== undefined);
  return hits;
}

/** Ids of the events in an inbox. */
async function waiting(store: Store, run: RunId): Promise<string[] | undefined> {
  return (await store.inbox(run))?.events.map(({ id }) => id);
}

async function kindsOf(store: Store, run: RunId): Promise<IndexKind[]> {
  const shard = shardOf(run, store.shards);
  const kinds: IndexKind[] = [];
  for (const kind of ['ready', 'timer', 'lease', 'inbox'] as const) {
    if ((await scanAll(store, kind, shard)).some((hit) => hit.run === run)) kinds.push(kind);
  }
  return kinds;
}

/** `count` runs in one shard. */
function sameShard(store: Store, count: number, shard = 0): RunId[] {
  const runs: RunId[] = [];
  for (let index = 0; runs.length < count; index++) {
    const run = id(`s${index}`);
    if (shardOf(run, store.shards) === shard) runs.push(run);
  }
  return runs;
}

export function storeContract(name: string, open: OpenStore): void {
  const test = (what: string, body: (store: Store) => Promise<void>) =>
    it(what, async () => {
      const { store, dispose } = await open();
      try {
        await body(store);
      } finally {
        await dispose();
      }
    });

  describe(`${name}: create`, () => {
    test('unheld begins at (0, 1) with its entries', async (store) => {
      const run = id('a');
      await createReady(store, run);
      const stored = await store.load(run);
      expect(stored).toMatchObject({ fence: { epoch: 0, version: 1 }, barrenClaims: 0, entries: ready, inbox: [] });
      expect(stored).not.toHaveProperty('holder');
      expect(stored?.run.id).toBe(run);
      expect(stored?.run.control).toEqual(control(run));
      expect(stored?.run.fields).toEqual(new Map([['input/body', field('hello')]]));
      expect(await kindsOf(store, run)).toEqual(['ready', 'timer']);
    });

    test('already claimed begins at (1, 1), held, with one claim not yet fruitful', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const stored = await store.load(run);
      expect(stored).toMatchObject({ fence: { epoch: 1, version: 1 }, barrenClaims: 1, entries: held, holder });
      expect(stored?.run.steps).toEqual(new Map([['parse', step()]]));
      expect(await kindsOf(store, run)).toEqual(['lease']);
    });

    test('of a run that exists changes nothing', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const before = await store.load(run);
      const again = { run, writeId: 'again', entries: ready };
      const other = changes({
        control: control(run, State.OPEN, { level: 1 }),
        fields: { 'input/other': field('x') },
        executions: [execution('parse')],
        alarms: [alarm('a')],
      });
      expect(await store.create({ ...again, changes: other })).toEqual({ kind: 'exists' });
      expect(await store.load(run)).toEqual(before);
      expect(await store.executions(run)).toEqual([]);
      expect((await store.alarms(10)).alarms).toEqual([]);
    });

    for (const state of [State.SUCCEEDED, State.FAILED, State.CANCELLED]) {
      test(`supersedes a generation that is ${State[state]}, once`, async (store) => {
        const [first, second, third] = [id('a', 1), id('a', 2), id('a', 3)];
        await createEnded(store, first, state);
        const next = (run: RunId) => ({
          run,
          writeId: writeId(),
          changes: changes({ control: control(run) }),
          entries: ready,
          supersedes: first,
        });
        expect(await store.create(next(second))).toEqual({ kind: 'done' });
        expect((await store.load(first))?.run.control).toEqual(control(first, state, { superseded: true }));
        expect(await store.create(next(third))).toEqual({ kind: 'refused' });
        expect(await store.load(third)).toBeUndefined();
        expect(await store.create(next(second)), 'sent again').toEqual({ kind: 'exists' });
      });
    }

    test('fences who would reopen the superseded generation', async (store) => {
      const [first, second] = [id('a', 1), id('a', 2)];
      await createEnded(store, first, State.FAILED);
      const expected = (await store.peek(first))!.fence;
      await store.create({
        run: second,
        writeId: writeId(),
        changes: changes({ control: control(second) }),
        entries: ready,
        supersedes: first,
      });
      const reopened = changes({ control: control(first) });
      expect(
        await store.claim({ run: first, writeId: writeId(), expected, holder, entries: held, changes: reopened }),
      ).toEqual({ kind: 'fenced' });
    });

    for (const [what, prepare] of [
      ['is open', (store: Store, run: RunId) => createReady(store, run)],
      ['does not exist', async () => {}],
    ] as const) {
      test(`is refused when the generation to supersede ${what}`, async (store) => {
        const [first, second] = [id('a', 1), id('a', 2)];
        await prepare(store, first);
        const before = await store.load(first);
        expect(
          await store.create({
            run: second,
            writeId: writeId(),
            changes: changes({ control: control(second), alarms: [alarm('a')] }),
            entries: ready,
            supersedes: first,
          }),
        ).toEqual({ kind: 'refused' });
        expect(await store.load(second)).toBeUndefined();
        expect(await store.load(first)).toEqual(before);
        expect((await store.alarms(10)).alarms).toEqual([]);
      });
    }

    test('without control data is a bug', async (store) => {
      const write = { run: id('a'), writeId: writeId(), changes: changes(), entries: ready };
      await expect(store.create(write)).rejects.toThrow('without control data');
    });
  });

  describe(`${name}: claim and commit`, () => {
    test('claim moves the fence, replaces holder and entries, counts', async (store) => {
      const run = id('a');
      await createReady(store, run);
      const claim = { run, writeId: 'c1', holder, entries: held, changes: changes({ steps: { parse: step() } }) };
      expect(await store.claim({ ...claim, expected: { epoch: 0, version: 1 } })).toEqual({ kind: 'done' });
      expect(await store.load(run)).toMatchObject({
        fence: { epoch: 1, version: 2 },
        writeId: 'c1',
        holder,
        entries: held,
        barrenClaims: 1,
      });
      expect(await kindsOf(store, run)).toEqual(['lease']);
      const expected = { epoch: 1, version: 2 };
      expect(await store.claim({ ...claim, expected, holder: otherHolder })).toEqual({ kind: 'done' });
      expect(await store.load(run)).toMatchObject({
        fence: { epoch: 2, version: 3 },
        holder: otherHolder,
        barrenClaims: 2,
      });
    });

    test('commit moves the version, writes only what it names, keeps holder and entries', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const done = step(StepStatus.DONE, { code: 0, endedMs: startMs + 4, attempts: 1, chosen: ['x'] });
      expect(
        await store.commit({
          run,
          writeId: 'c1',
          expected: { epoch: 1, version: 1 },
          changes: changes({
            steps: { parse: done, score: step() },
            fields: { 'parse/subject': field('hi'), 'parse/empty': field('') },
          }),
        }),
      ).toEqual({ kind: 'done' });
      const stored = await store.load(run);
      expect(stored).toMatchObject({
        fence: { epoch: 1, version: 2 },
        writeId: 'c1',
        holder,
        entries: held,
        barrenClaims: 0,
      });
      expect(stored?.run.control).toEqual(control(run));
      expect(stored?.run.steps).toEqual(
        new Map([
          ['parse', done],
          ['score', step()],
        ]),
      );
      expect([...(stored?.run.fields.keys() ?? [])].sort()).toEqual(['input/body', 'parse/empty', 'parse/subject']);
      expect(stored?.run.fields.get('parse/empty')).toEqual(field(''));
      expect(await kindsOf(store, run)).toEqual(['lease']);
    });

    test('commit that lets go replaces the entries', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const release = { ready: false, timerMs: startMs + 500 };
      const expected = { epoch: 1, version: 1 };
      await store.commit({ run, writeId: writeId(), expected, changes: changes(), release });
      const stored = await store.load(run);
      expect(stored?.entries).toEqual(release);
      expect(stored).not.toHaveProperty('holder');
      expect(await kindsOf(store, run)).toEqual(['timer']);
    });

    test('null removes a field', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const commit = (version: number, value: ReturnType<typeof field> | null) =>
        store.commit({
          run,
          writeId: writeId(),
          expected: { epoch: 1, version },
          changes: changes({ fields: { 'parse/subject': value, 'parse/absent': null } }),
        });
      await commit(1, field('hi'));
      await commit(2, null);
      expect([...((await store.load(run))?.run.fields.keys() ?? [])]).toEqual(['input/body']);
    });

    const wrong: ReadonlyArray<readonly [string, Fence]> = [
      ['an older epoch', { epoch: 0, version: 2 }],
      ['a newer epoch', { epoch: 2, version: 2 }],
      ['an older version', { epoch: 1, version: 1 }],
      ['a newer version', { epoch: 1, version: 3 }],
    ];
    for (const [what, expected] of wrong) {
      test(`with ${what} is fenced and changes nothing`, async (store) => {
        const run = id('a');
        await createReady(store, run);
        const first = { run, writeId: writeId(), holder, entries: held, changes: changes() };
        await store.claim({ ...first, expected: { epoch: 0, version: 1 } });
        await store.post(run, event('e1'));
        const before = await store.load(run);
        const beforeKinds = await kindsOf(store, run);
        const stale = changes({
          control: control(run, State.FAILED),
          steps: { parse: step(StepStatus.FAILED) },
          fields: { 'input/body': null, 'parse/subject': field('stale') },
          executions: [execution('parse')],
          consumed: ['e1'],
          alarms: [alarm('stale')],
        });
        const write = { run, writeId: 'stale', expected, changes: stale };
        expect(await store.commit({ ...write, release: nothing })).toEqual({ kind: 'fenced' });
        expect(await store.claim({ ...write, holder: otherHolder, entries: ready })).toEqual({ kind: 'fenced' });
        expect(await store.load(run)).toEqual(before);
        expect(await kindsOf(store, run)).toEqual(beforeKinds);
        expect(await store.executions(run)).toEqual([]);
        expect((await store.alarms(10)).alarms).toEqual([]);
      });
    }

    test('of a run that does not exist is fenced', async (store) => {
      const write = { run: id('a'), writeId: writeId(), expected: { epoch: 0, version: 1 }, changes: changes() };
      expect(await store.commit(write)).toEqual({ kind: 'fenced' });
      expect(await store.claim({ ...write, holder, entries: held })).toEqual({ kind: 'fenced' });
    });

    test('removes a step, which may come back', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const branch = step(StepStatus.RUNNING, { child: id('child'), childOutcome: 0 });
      const list = { count: 9, done: Uint8Array.of(1, 0), failed: Uint8Array.of(0, 0), next: 2 };
      const each = step(StepStatus.WAITING, { branches: list });
      const commit = (version: number, steps: Parameters<typeof changes>[0]) =>
        store.commit({ run, writeId: writeId(), expected: { epoch: 1, version }, changes: changes(steps) });
      await commit(1, { steps: { each, 'each[0]': branch } });
      expect((await store.load(run))?.run.steps).toEqual(
        new Map([
          ['each', each],
          ['each[0]', branch],
          ['parse', step()],
        ]),
      );
      await commit(2, { steps: { 'each[0]': null, 'never there': null } });
      expect([...((await store.load(run))?.run.steps.keys() ?? [])].toSorted()).toEqual(['each', 'parse']);
      await commit(3, { steps: { 'each[0]': branch } });
      expect((await store.load(run))?.run.steps.get('each[0]')).toEqual(branch);
    });

    test('the id of the last accepted write is read by peek', async (store) => {
      const run = id('a');
      expect(await store.peek(run)).toBeUndefined();
      await createHeld(store, run);
      await store.commit({ run, writeId: 'mine', expected: { epoch: 1, version: 1 }, changes: changes() });
      await store.commit({ run, writeId: 'fenced', expected: { epoch: 1, version: 1 }, changes: changes() });
      expect(await store.peek(run)).toEqual({
        fence: { epoch: 1, version: 2 },
        writeId: 'mine',
        holder,
        control: control(run),
      });
    });

    test('many writes of one turn succeed or fail each for itself', async (store) => {
      const runs = Array.from({ length: 300 }, (_, index) => id(`k${index}`));
      await Promise.all(runs.map((run) => createHeld(store, run)));
      const results = await Promise.all(
        runs.map((run, index) =>
          store.commit({
            run,
            writeId: writeId(),
            expected: { epoch: 1, version: index % 3 === 0 ? 9 : 1 },
            changes: changes({ fields: { 'parse/n': field(String(index)) }, executions: [execution('parse')] }),
          }),
        ),
      );
      for (const [index, run] of runs.entries()) {
        const fenced = index % 3 === 0;
        expect(results[index]).toEqual({ kind: fenced ? 'fenced' : 'done' });
        expect((await store.load(run))?.run.fields.has('parse/n')).toBe(!fenced);
        expect(await store.executions(run)).toHaveLength(fenced ? 0 : 1);
      }
    });

    test('of two writes with one fence in one turn the first wins', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const commit = (writeId: string) =>
        store.commit({ run, writeId, expected: { epoch: 1, version: 1 }, changes: changes() });
      expect(await Promise.all([commit('x'), commit('y')])).toEqual([{ kind: 'done' }, { kind: 'fenced' }]);
      expect((await store.peek(run))?.writeId).toBe('x');
    });

    test('what the caller changes after asking is not stored', async (store) => {
      const run = id('a');
      const value = field('hello');
      const mine = changes({ control: control(run), fields: { 'input/body': value } });
      const asked = store.create({ run, writeId: writeId(), changes: mine, entries: ready });
      value.bytes.fill(0);
      mine.fields.set('input/late', field('late'));
      await asked;
      const loaded = await store.load(run);
      expect(loaded?.run.fields).toEqual(new Map([['input/body', field('hello')]]));
      loaded?.run.fields.get('input/body')?.bytes.fill(0);
      expect((await store.load(run))?.run.fields.get('input/body')).toEqual(field('hello'));
    });

    test('a number that cannot be stored is a bug, and harms no other write', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const bad = changes({ steps: { parse: step(StepStatus.DONE, { startedMs: 0.5 }) } });
      const [refused, accepted] = await Promise.allSettled([
        store.commit({ run, writeId: writeId(), expected: { epoch: 1, version: 1 }, changes: bad }),
        store.commit({ run, writeId: writeId(), expected: { epoch: 1, version: 1 }, changes: changes() }),
      ]);
      expect(refused.status).toBe('rejected');
      expect(accepted).toEqual({ status: 'fulfilled', value: { kind: 'done' } });
    });
  });

  describe(`${name}: inbox`, () => {
    test('keeps events in order of arrival beside the fence', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      for (const eventId of ['e2', 'e1', 'e3']) {
        expect(await store.post(run, event(eventId))).toEqual({ kind: 'done', holder });
      }
      expect(await waiting(store, run)).toEqual(['e2', 'e1', 'e3']);
      const stored = await store.load(run);
      expect(await store.inbox(run)).toEqual({ fence: { epoch: 1, version: 1 }, events: stored?.inbox });
      expect(stored?.inbox[0]).toEqual(event('e2'));
      expect(stored?.fence).toEqual({ epoch: 1, version: 1 });
    });

    test('tells duplicates, also of what was consumed', async (store) => {
      const run = id('a');
      await createReady(store, run);
      expect(await store.post(run, event('e1'))).toEqual({ kind: 'done' });
      expect(await store.post(run, event('e1'))).toEqual({ kind: 'duplicate' });
      const claimed = { run, writeId: writeId(), holder, entries: held, expected: { epoch: 0, version: 1 } };
      await store.claim({ ...claimed, changes: changes({ consumed: ['e1', 'never posted'] }) });
      expect(await store.inbox(run)).toEqual({ fence: { epoch: 1, version: 2 }, events: [] });
      expect(await store.post(run, event('e1'))).toEqual({ kind: 'duplicate', holder });
      expect(await waiting(store, run)).toEqual([]);
      expect(await kindsOf(store, run)).toEqual(['lease']);
    });

    test('of a run that does not exist is absent', async (store) => {
      expect(await store.post(id('a'), event('e1'))).toEqual({ kind: 'absent' });
      expect(await store.inbox(id('a'))).toBeUndefined();
    });

    test('an event is consumed by an accepted commit only', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      await store.post(run, event('e1', startMs + 1));
      await store.post(run, event('e2', startMs + 2));
      const commit = (version: number) =>
        store.commit({
          run,
          writeId: writeId(),
          expected: { epoch: 1, version },
          changes: changes({ consumed: ['e1'] }),
        });
      expect(await commit(7)).toEqual({ kind: 'fenced' });
      expect(await waiting(store, run)).toEqual(['e1', 'e2']);
      expect(await commit(1)).toEqual({ kind: 'done' });
      expect(await waiting(store, run)).toEqual(['e2']);
      const [hit] = await scanAll(store, 'inbox', shardOf(run, store.shards));
      expect(hit).toMatchObject({ run, dueMs: startMs + 2, holder });
    });

    test('ids of two runs are apart', async (store) => {
      await createHeld(store, id('a'));
      await createHeld(store, id('b'));
      expect(await store.post(id('a'), event('e1'))).toMatchObject({ kind: 'done' });
      expect(await store.post(id('b'), event('e1'))).toMatchObject({ kind: 'done' });
    });
  });

  describe(`${name}: scans`, () => {
    test('ready goes by level, then order, whatever the page size', async (store) => {
      const runs = sameShard(store, 60);
      for (const [index, run] of runs.entries()) {
        const order = startMs + ((index * 37) % 60);
        await createReady(store, run, ready, { level: 1 + (index % 9), order });
      }
      const all = await scanAll(store, 'ready', 0);
      const places = all.map(({ control: { level, order } }) => level * 1e14 + order);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(new Set(all.map(({ run }) => run))).toEqual(new Set(runs));
      for (const limit of [1, 7, 59, 60, 61]) expect(await scanAll(store, 'ready', 0, limit)).toEqual(all);
    });

    test('a hit says what an offer needs', async (store) => {
      const run = id('a');
      await createReady(store, run, ready, { level: 3, order: startMs + 9, inputBytes: 77 });
      const [hit] = await scanAll(store, 'ready', shardOf(run, store.shards));
      expect(hit).toEqual({
        run,
        fence: { epoch: 0, version: 1 },
        control: { business: 'mail', level: 3, order: startMs + 9, inputBytes: 77 },
        state: State.OPEN,
        ready: true,
        dueMs: 0,
      });
      const [timer] = await scanAll(store, 'timer', shardOf(run, store.shards));
      expect(timer).toEqual({ ...hit, dueMs: ready.timerMs });
    });

    test('runs of one level and order are all seen', async (store) => {
      const runs = sameShard(store, 20);
      for (const run of runs) await createReady(store, run);
      expect(new Set((await scanAll(store, 'ready', 0, 3)).map(({ run }) => run))).toEqual(new Set(runs));
    });

    test('timers and leases go by time, those due only', async (store) => {
      const runs = sameShard(store, 10);
      for (const [index, run] of runs.entries()) {
        const dueMs = startMs + ((index * 7) % 10);
        await createReady(store, run, { ready: false, timerMs: dueMs, leaseMs: dueMs });
      }
      for (const kind of ['timer', 'lease'] as const) {
        const page = await store.scan({ shard: 0, kind, untilMs: startMs + 4, limit: 100 });
        expect(page.hits.map(({ dueMs }) => dueMs - startMs)).toEqual([0, 1, 2, 3, 4]);
        expect(page.next).toBeUndefined();
        const first = await store.scan({ shard: 0, kind, untilMs: startMs + 4, limit: 2 });
        expect(first.next).toBeDefined();
        const second = await store.scan({ shard: 0, kind, untilMs: startMs + 4, limit: 100, after: first.next! });
        expect([...first.hits, ...second.hits]).toEqual(page.hits);
      }
    });

    test('inbox goes by the arrival of the oldest event', async (store) => {
      const [first, second] = sameShard(store, 2) as [RunId, RunId];
      await createHeld(store, first);
      await createHeld(store, second);
      await store.post(second, event('e1', startMs + 1));
      await store.post(first, event('e2', startMs + 2));
      await store.post(second, event('e3', startMs + 3));
      const hits = await scanAll(store, 'inbox', 0);
      expect(hits.map(({ run, dueMs }) => [run, dueMs - startMs])).toEqual([
        [second, 1],
        [first, 2],
      ]);
    });

    test('sees its own shard only', async (store) => {
      const [other] = sameShard(store, 1, 1) as [RunId];
      await createReady(store, other);
      expect(await scanAll(store, 'ready', 0)).toEqual([]);
      expect(await scanAll(store, 'ready', 1)).toHaveLength(1);
    });

    test('an entry that stands still is seen while others come and go (S5)', async (store) => {
      const runs = sameShard(store, 300);
      for (const [index, run] of runs.entries()) await createReady(store, run, ready, { order: startMs + index });
      const still = runs.filter((_, index) => index % 2 === 0);
      const moving = runs.filter((_, index) => index % 2 === 1);
      const seen: RunId[] = [];
      let after: ScanPosition | undefined;
      do {
        const page = await store.scan({ shard: 0, kind: 'ready', limit: 7, ...(after === undefined ? {} : { after }) });
        for (const { run } of page.hits) seen.push(run);
        after = page.next;
        for (const run of moving.splice(0, 4)) {
          const write = { run, writeId: writeId(), changes: changes() };
          await store.claim({ ...write, expected: { epoch: 0, version: 1 }, holder, entries: held });
          // Half of them come back, at another place.
          if (seen.length % 2 === 0) {
            const expected = { epoch: 1, version: 2 };
            const moved = changes({ control: control(run, State.OPEN, { level: 1 }) });
            await store.commit({ ...write, changes: moved, expected, release: ready });
          }
        }
      } while (after !== undefined);
      for (const run of still) expect(seen.filter((other) => other === run)).toHaveLength(1);
    });

    for (const limit of [0, 1_001, 1.5]) {
      test(`a limit of ${limit} is refused`, async (store) => {
        await expect(store.scan({ shard: 0, kind: 'ready', limit })).rejects.toThrow(RangeError);
      });
    }

    test('a position of another store is refused', async (store) => {
      const after = 'elsewhere' as ScanPosition;
      await expect(store.scan({ shard: 0, kind: 'ready', limit: 1, after })).rejects.toThrow(RangeError);
    });
  });

  describe(`${name}: promote`, () => {
    const asleep: IndexEntries = { ready: false, timerMs: startMs + 100 };
    const due = async (store: Store, run: RunId) => {
      const shard = shardOf(run, store.shards);
      const { hits } = await store.scan({ shard, kind: 'timer', untilMs: startMs + 100, limit: 10 });
      return { shard, hits };
    };

    test('makes a sleeper ready at its old place, with its deadline as timer', async (store) => {
      const run = id('a');
      await createReady(store, run, asleep, { level: 2, order: startMs + 3 });
      const { shard, hits } = await due(store, run);
      expect(await store.promote(shard, hits)).toBe(1);
      expect(await store.load(run)).toMatchObject({
        fence: { epoch: 0, version: 1 },
        entries: { ready: true, timerMs: startMs + 60_000 },
      });
      const [ready] = await scanAll(store, 'ready', shard);
      expect(ready).toMatchObject({ run, control: { level: 2, order: startMs + 3 } });
      expect(await store.promote(shard, hits), 'the same again').toBe(0);
    });

    test('whose deadline fell due keeps it, so that it is seen not to wait for its turn', async (store) => {
      const run = id('a');
      await createReady(store, run, { ready: false, timerMs: startMs + 100 }, { deadlineMs: startMs + 100 });
      const { shard, hits } = await due(store, run);
      expect(hits).toMatchObject([{ ready: false }]);
      expect(await store.promote(shard, hits)).toBe(1);
      expect((await store.load(run))?.entries).toEqual({ ready: true, timerMs: startMs + 100 });
      expect((await due(store, run)).hits).toMatchObject([{ ready: true }]);
    });

    test('leaves a run alone whose fence moved, or that is held', async (store) => {
      const run = id('a');
      await createReady(store, run, asleep);
      const { shard, hits } = await due(store, run);
      const write = { run, writeId: writeId(), changes: changes() };
      await store.claim({ ...write, expected: { epoch: 0, version: 1 }, holder, entries: asleep });
      expect(await store.promote(shard, hits)).toBe(0);
      const held = await due(store, run);
      expect(await store.promote(shard, held.hits)).toBe(0);
      await store.commit({ ...write, expected: { epoch: 1, version: 2 }, release: asleep });
      expect(await store.promote(shard, hits)).toBe(0);
      expect((await store.load(run))?.entries).toEqual(asleep);
    });

    test('of a run that is ending knows no deadline', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const ending = changes({ control: control(run, State.ENDING) });
      const expected = { epoch: 1, version: 1 };
      await store.commit({ run, writeId: writeId(), expected, changes: ending, release: asleep });
      const { shard, hits } = await due(store, run);
      expect(await store.promote(shard, hits)).toBe(1);
      expect((await store.load(run))?.entries).toEqual({ ready: true, timerMs: startMs + 100 });
      expect((await due(store, run)).hits).toMatchObject([{ ready: true }]);
    });

    test('many at once, each for itself', async (store) => {
      const runs = sameShard(store, 30);
      for (const run of runs) await createReady(store, run, asleep);
      const { hits } = await store.scan({ shard: 0, kind: 'timer', untilMs: startMs + 100, limit: 100 });
      const write = { writeId: writeId(), changes: changes(), holder, entries: held };
      for (const run of runs.slice(0, 10)) await store.claim({ ...write, run, expected: { epoch: 0, version: 1 } });
      expect(await store.promote(0, hits)).toBe(20);
      expect(await store.promote(0, [])).toBe(0);
    });
  });

  describe(`${name}: queries`, () => {
    test('lists and counts the runs that a run started, in pages', async (store) => {
      const [parent, other] = [id('parent'), id('other')];
      const started = (run: RunId) => {
        return {
          parent: { run, step: 'each', round: 1, waits: true, receive: ['a'], chain: 1 },
          rowKey: Uint8Array.of(9),
        };
      };
      for (const run of [parent, other]) await createHeld(store, run);
      const children = ['c', 'a', 'b'].map((key) => id(key, 1, 'mail', 'part'));
      for (const child of children) await createReady(store, child, ready, started(parent));
      await createReady(store, id('stranger', 1, 'mail', 'part'), ready, started(other));
      const first = await store.list({ states: [], parent }, 2);
      const second = await store.list({ states: [], parent }, 2, first.next);
      const listed = [...first.runs, ...second.runs].map(({ run }) => run.id);
      expect(listed.toSorted()).toEqual(children.toSorted());
      expect(first.runs[0]?.run.control).toMatchObject(started(parent));
      expect(second.next).toBeUndefined();
      expect(await store.count({ states: [State.OPEN], parent })).toMatchObject([{ state: State.OPEN, runs: 3 }]);
      expect((await store.list({ states: [State.FAILED], parent }, 2)).runs).toEqual([]);
      expect((await store.list({ states: [], parent: id('nobody') }, 2)).runs).toEqual([]);
    });

    test('newest is the highest generation of exactly this identity', async (store) => {
      const identity = identityOf(id('a'));
      expect(await store.newest(identity)).toBeUndefined();
      await createEnded(store, id('a', 1));
      await createReady(store, id('a', 10));
      await createReady(store, id('a', 2));
      await createReady(store, id('aa', 20));
      expect(await store.newest(identity)).toBe(id('a', 10));
    });

    test('list filters, and pages stay while writes go on', async (store) => {
      const runs = Array.from({ length: 40 }, (_, index) =>
        id(`k${index}`, 1, index % 2 ? 'mail' : 'news', index % 4 < 2 ? 'intake' : 'export'),
      );
      for (const run of runs) await createHeld(store, run);
      const everything = await pages(store, {}, 7, async (shown) => {
        // What is written meanwhile moves nothing.
        await createReady(store, id(`late${shown}`, 1, 'other'));
        const [next] = runs.splice(0, 1);
        if (next) {
          const ended = changes({ control: control(next, State.SUCCEEDED) });
          const expected = { epoch: 1, version: 1 };
          await store.commit({ run: next, writeId: writeId(), expected, changes: ended, release: nothing });
        }
      });
      const first = everything.filter((run) => !run.includes('late'));
      expect(first).toHaveLength(40);
      expect(new Set(everything).size).toBe(everything.length);

      expect(await pages(store, { business: 'mail' }, 3)).toHaveLength(20);
      expect(await pages(store, { flow: 'export' }, 3)).toHaveLength(20);
      expect(await pages(store, { business: 'news', flow: 'export' }, 3)).toHaveLength(10);
      expect(await pages(store, { business: 'mai' }, 3)).toEqual([]);
      expect(await pages(store, { flow: 'mail' }, 3)).toEqual([]);
      const ended = await pages(store, { states: [State.SUCCEEDED] }, 2);
      expect(ended.length).toBeGreaterThan(2);
      const both = [State.OPEN, State.SUCCEEDED, State.OPEN];
      expect(await pages(store, { states: both }, 4)).toEqual(await pages(store, {}, 1_000));
      await expect(store.list({ states: [] }, 0)).rejects.toThrow(RangeError);
      await expect(store.list({ states: [] }, 1, 'x')).rejects.toThrow(RangeError);
    });

    test('what is listed is what is loaded', async (store) => {
      await createHeld(store, id('a'));
      const { inbox: _inbox, ...loaded } = (await store.load(id('a')))!;
      expect((await store.list({ states: [] }, 10)).runs).toEqual([loaded]);
    });

    test('count groups by state and reason', async (store) => {
      const failed = (run: RunId, reason: Reason) =>
        changes({ control: control(run, State.FAILED, { status: { ...control(run, State.FAILED).status, reason } }) });
      for (const [key, reason] of [
        ['a', Reason.FATAL],
        ['b', Reason.FATAL],
        ['c', Reason.REJECTED],
      ] as const) {
        await createHeld(store, id(key));
        const expected = { epoch: 1, version: 1 };
        const write = { run: id(key), writeId: writeId(), expected, release: nothing };
        await store.commit({ ...write, changes: failed(id(key), reason) });
      }
      await createReady(store, id('d', 1, 'news', 'export'));
      const fatal = { state: State.FAILED, reason: Reason.FATAL, runs: 2 };
      const rejected = { state: State.FAILED, reason: Reason.REJECTED, runs: 1 };
      const open = { state: State.OPEN, reason: Reason.UNSPECIFIED, runs: 1 };
      expect(await store.count({ states: [] })).toEqual([open, rejected, fatal]);
      expect(await store.count({ states: [State.FAILED] })).toEqual([rejected, fatal]);
      expect(await store.count({ business: 'news', states: [] })).toEqual([open]);
      expect(await store.count({ flow: 'intake', states: [State.OPEN] })).toEqual([]);
    });

    test('executions come in the order of their commits, with their epoch', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      for (let version = 1; version <= 12; version++) {
        const executions = [execution('parse', version), execution('score', version)];
        const expected = { epoch: 1, version };
        await store.commit({ run, writeId: writeId(), expected, changes: changes({ executions }) });
      }
      const executions = [execution('late')];
      const claimed = { run, writeId: writeId(), expected: { epoch: 1, version: 13 }, holder, entries: held };
      await store.claim({ ...claimed, changes: changes({ executions }) });
      const stored = await store.executions(run);
      expect(stored.map(({ step, attempt }) => `${step} ${attempt}`)).toEqual([
        ...Array.from({ length: 12 }, (_, index) => [`parse ${index + 1}`, `score ${index + 1}`]).flat(),
        'late 1',
      ]);
      expect(stored.map(({ epoch }) => epoch)).toEqual([...Array(24).fill(1n), 2n]);
      expect(stored[0]).toMatchObject({ durationUs: 1_500n, endpoint: '127.0.0.1:21001', code: 0 });
      expect(await store.executions(id('none'))).toEqual([]);
    });

    test('all executions of the runs that match', async (store) => {
      for (let index = 0; index < 250; index++) {
        const run = id(`k${index}`, 1, index % 2 ? 'mail' : 'news');
        await createHeld(store, run);
        if (index % 5 === 0) continue;
        const executions = [execution(`s${index}`)];
        const expected = { epoch: 1, version: 1 };
        await store.commit({ run, writeId: writeId(), expected, changes: changes({ executions }) });
      }
      const steps: string[] = [];
      for await (const batch of store.allExecutions({ business: 'mail', states: [] })) {
        for (const { step } of batch) steps.push(step);
      }
      const expected = Array.from({ length: 250 }, (_, index) => index).filter((index) => index % 2 && index % 5);
      expect(steps.toSorted()).toEqual(expected.map((index) => `s${index}`).toSorted());
    });

    test('alarms: one record per key, the newest first', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      await store.raise(alarm('one', startMs + 1));
      await store.raise(alarm('two', startMs + 2));
      const alarms = [alarm('one', startMs + 3, 'again'), alarm('three', startMs + 2)];
      const write = { run, writeId: writeId(), expected: { epoch: 1, version: 1 }, changes: changes({ alarms }) };
      await store.commit(write);
      await store.commit(write);
      const all = await store.alarms(10);
      expect(all.next).toBeUndefined();
      expect(all.alarms.map(({ key, count }) => [key, count])).toEqual([
        ['one', 2n],
        ['two', 1n],
        ['three', 1n],
      ]);
      expect(all.alarms[0]).toMatchObject({
        firstMs: BigInt(startMs + 1),
        lastMs: BigInt(startMs + 3),
        message: 'again',
        step: 'parse',
      });
      const first = await store.alarms(1);
      const rest = await store.alarms(10, first.next);
      expect([...first.alarms, ...rest.alarms]).toEqual(all.alarms);
      await store.raise(alarm('one', startMs));
      expect((await store.alarms(1)).alarms[0]).toMatchObject({ key: 'one', count: 3n, lastMs: BigInt(startMs + 3) });
    });
  });

  describe(`${name}: sizes`, () => {
    const all = new Uint8Array(1_024).map((_, index) => index % 256);
    const keys: ReadonlyArray<readonly [string, Uint8Array]> = [
      ['1,024 bytes of every value', all],
      ['a zero byte', new Uint8Array([0])],
      ['a 0xff byte', new Uint8Array([255])],
      ['slashes', new Uint8Array([47, 47, 97, 47])],
      ['UTF-8', new TextEncoder().encode('文件')],
    ];
    for (const [what, key] of keys) {
      test(`key with ${what}`, async (store) => {
        const [run, longer] = [id(key), id(new Uint8Array([...key, 0]))];
        await createReady(store, run);
        await createReady(store, longer);
        expect((await store.load(run))?.run.control.itemKey).toEqual(key);
        expect(await store.newest(identityOf(run))).toBe(run);
        const hits = await scanAll(store, 'ready', shardOf(run, store.shards));
        expect(hits.map((hit) => hit.run)).toContain(run);
        const listed = await store.list({ business: 'mail', flow: 'intake', states: [] }, 10);
        expect(listed.runs.map((stored) => stored.run.id).toSorted()).toEqual([run, longer].toSorted());
      });
    }

    test('fields of 1 MB', async (store) => {
      const run = id('a');
      await createHeld(store, run);
      const value = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 251);
      const expected = { epoch: 1, version: 1 };
      const write = { run, writeId: writeId(), expected };
      await store.commit({ ...write, changes: changes({ fields: { 'parse/big': { bytes: value } } }) });
      const stored = (await store.load(run))?.run.fields.get('parse/big')?.bytes;
      expect(stored && Buffer.compare(stored, value)).toBe(0);
    });

    test('10,000 runs', async (store) => {
      const runs = Array.from({ length: 10_000 }, (_, index) => id(`k${index}`));
      const results = await Promise.all(
        runs.map((run, index) =>
          store.create({
            run,
            writeId: writeId(),
            changes: changes({ control: control(run, State.OPEN, { order: startMs + index }) }),
            entries: ready,
          }),
        ),
      );
      expect(results.every(({ kind }) => kind === 'done')).toBe(true);
      let seen = 0;
      for (let shard = 0; shard < store.shards; shard++) seen += (await scanAll(store, 'ready', shard, 500)).length;
      expect(seen).toBe(10_000);
      expect(await store.count({ states: [] })).toEqual([
        { state: State.OPEN, reason: Reason.UNSPECIFIED, runs: 10_000 },
      ]);
    });
  });
}

async function pages(
  store: Store,
  query: { business?: string; flow?: string; states?: State[] },
  limit: number,
  between: (shown: number) => Promise<void> = async () => {},
): Promise<RunId[]> {
  const runs: RunId[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ states: [], ...query }, limit, after);
    expect(page.runs.length).toBeLessThanOrEqual(limit);
    for (const { run } of page.runs) runs.push(run.id);
    after = page.next;
    // Bounded: what `between` adds is listed too.
    if (runs.length < 60) await between(runs.length);
  } while (after !== undefined);
  return runs;
}
