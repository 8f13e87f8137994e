// What it costs to find 1,000 ready runs among many that are finished, in a table of its own on the HBase of `npm run services`.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { noChanges } from '../flow/change.ts';
import type { Control, RunId } from '../flow/run.ts';
import { runId, runParts } from '../flow/run-id.ts';
import { Reason, State } from '../proto/gen/weir/run/v1/run_pb.js';
import { connectHBase } from '../store/hbase/client/client.ts';
import type { HBase } from '../store/hbase/client/port.ts';
import { type HBaseStore, openHBaseStore } from '../store/hbase/hbase-store.ts';
import { initTable } from '../store/hbase/table.ts';
import type { ScanPosition } from '../store/port.ts';

const defaultServer = '127.0.0.1:27231';
const shards = 16;
const regions = 4;
const dueRuns = 1_000;
const pageRuns = 100;
const runsAtATime = 400;
const level = 5;
/** Passes of which the best counts: other work of the machine makes single ones slow. */
const passes = 5;
/** How long a compaction may take. */
const compactionMs = 60_000;

export interface ScanCost {
  /** One pass over all shards that finds the 1,000, nothing else being in the table. */
  readonly aloneMs: number;
  /** The first pass after the others finished: it begins at the first row, and walks over all that is deleted. */
  readonly wholePassMs: number;
  /** The passes after that begin at the low water. */
  readonly nextPassMs: number;
  /** The first pass of a new process after a major compaction. */
  readonly compactedMs: number;
  /** Whole lives: create, claim, end. */
  readonly finishedPerSecond: number;
}

/** `finished` runs are created, claimed and ended first. The server is 127.0.0.1:27231, or WEIR_HBASE_SERVERS. */
export async function scanCost(finished: number): Promise<ScanCost> {
  const addresses = (process.env['WEIR_HBASE_SERVERS'] ?? defaultServer).split(',');
  const hbase = connectHBase({ addresses });
  const table = `bench-${randomBytes(6).toString('hex')}`;
  await initTable(hbase, table, { shards, regions });
  try {
    const store = await openHBaseStore({ hbase, table });
    for (let index = 0; index < dueRuns; index++) await create(store, `due-${index}`, finished + index);
    const aloneMs = await bestPassMs(store);
    const beganMs = performance.now();
    await each(finished, (index) => live(store, index));
    const finishedPerSecond = finished / ((performance.now() - beganMs) / 1_000);
    const fresh = await openHBaseStore({ hbase, table });
    const wholePassMs = await passMs(fresh);
    const nextPassMs = await bestPassMs(fresh);
    const compactedMs = await afterCompaction(hbase, table, aloneMs);
    return { aloneMs, wholePassMs, nextPassMs, compactedMs, finishedPerSecond };
  } finally {
    await hbase.admin.deleteTable(table);
    await hbase.close();
  }
}

/** A pass of a spout: all shards, page by page. */
async function passMs(store: HBaseStore): Promise<number> {
  const beganMs = performance.now();
  const found = await Promise.all(
    Array.from({ length: shards }, async (_, shard) => {
      let hits = 0;
      let after: ScanPosition | undefined;
      do {
        const place = after === undefined ? {} : { after };
        const page = await store.scan({ shard, kind: 'ready', limit: pageRuns, ...place });
        hits += page.hits.length;
        after = page.next;
      } while (after !== undefined);
      return hits;
    }),
  );
  const tookMs = performance.now() - beganMs;
  const sum = found.reduce((total, hits) => total + hits, 0);
  if (sum !== dueRuns) throw new Error(`a pass found ${sum} of ${dueRuns} runs`);
  return tookMs;
}

async function bestPassMs(store: HBaseStore): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < passes; pass++) bestMs = Math.min(bestMs, await passMs(store));
  return bestMs;
}

/** The best pass while the servers compact, until one is about as quick as with nothing finished. */
async function afterCompaction(hbase: HBase, table: string, aloneMs: number): Promise<number> {
  for (const region of await hbase.admin.regions(table)) {
    await hbase.admin.flushRegion(region);
    await hbase.admin.compactRegion(region);
  }
  const giveUpMs = performance.now() + compactionMs;
  let bestMs = Number.POSITIVE_INFINITY;
  while (bestMs > 2 * aloneMs && performance.now() < giveUpMs) {
    // A new one remembers no low water.
    bestMs = Math.min(bestMs, await passMs(await openHBaseStore({ hbase, table })));
    await pause(250);
  }
  return bestMs;
}

async function each(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: runsAtATime }, worker));
}

async function create(store: HBaseStore, key: string, order: number): Promise<RunId> {
  const run = runId({ business: 'bench', flow: 'scan', itemKey: Buffer.from(key), generation: 1 });
  const changes = { ...noChanges(), control: controlOf(run, order, State.OPEN) };
  const entries = { ready: true, timerMs: order + 1 };
  expectDone(await store.create({ run, writeId: '0', changes, entries }));
  return run;
}

async function live(store: HBaseStore, index: number): Promise<void> {
  const run = await create(store, `finished-${index}`, index);
  const holder = { processId: 'bench', incarnation: 'bench', claimedMs: 1 };
  const entries = { ready: false, leaseMs: index };
  const claim = { run, writeId: '1', expected: { epoch: 0, version: 1 }, holder, entries };
  expectDone(await store.claim({ ...claim, changes: noChanges() }));
  const changes = { ...noChanges(), control: controlOf(run, index, State.SUCCEEDED) };
  const expected = { epoch: 1, version: 2 };
  expectDone(await store.commit({ run, writeId: '2', expected, changes, release: { ready: false } }));
}

function expectDone(result: { readonly kind: string }): void {
  if (result.kind !== 'done') throw new Error(`a write ended with ${JSON.stringify(result)}`);
}

function controlOf(run: RunId, order: number, state: State): Control {
  const status = { reason: Reason.UNSPECIFIED, detail: '', outcomeNumber: 0, outcome: State.UNSPECIFIED, sinceMs: 1 };
  return {
    ...runParts(run),
    ...{ flowVersion: 1, level, order, createdMs: 1, deadlineMs: order + 1, inputBytes: 0, superseded: false },
    creationHash: new Uint8Array(32),
    status: { state, ...status, evidence: [] },
  };
}
