// W1: as many items as go through. L: items at a steady pace, and how long each takes.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../platform/rpc/client.ts';
import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { addressOf, business, type Engine, flow, startEngine, startFloor } from './engine.ts';
import { RawCaller } from './raw-calls.ts';
import { percentile } from './statistics.ts';

/** Items in one message of the stream. */
const batchItems = 100;
/** Items before those that are measured, of all: they warm compilers and caches. */
const warmShare = 0.25;
/** Parts in which engine and floor are measured by turns. */
const slices = 4;

export interface W1Result {
  readonly itemsPerSecond: number;
  readonly floorItemsPerSecond: number;
  /** Of all processes: engine, module, and the client that submits. */
  readonly cpuSecondsPer1000: number;
  readonly floorCpuSecondsPer1000: number;
  /** All CPU less the floor's: ours, of an item. */
  readonly ownCpuMicrosPerItem: number;
  readonly engineCpuSecondsPer1000: number;
  readonly moduleCpuSecondsPer1000: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly peakRssMiB: number;
}

export async function w1(items: number, payloadBytes: number): Promise<W1Result> {
  const floor = new Measured(await startFloor());
  const engine = new Measured(await startEngine());
  try {
    const warm = Math.ceil(items * warmShare);
    for (const each of [floor, engine]) await each.process(warm, payloadBytes);
    const [floorBefore, engineBefore] = [floor.spent(), engine.spent()];
    // Turn about, so that what else goes on in the machine meets both alike.
    for (let slice = 0; slice < slices; slice++) {
      for (const each of [floor, engine]) await each.process(Math.ceil(items / slices), payloadBytes);
    }
    const [floorSpent, spent] = [since(floorBefore, floor.spent()), since(engineBefore, engine.spent())];
    const latencies = await latenciesMs(engine.running.runs);
    return {
      itemsPerSecond: spent.items / spent.seconds,
      floorItemsPerSecond: floorSpent.items / floorSpent.seconds,
      cpuSecondsPer1000: cpuSecondsPer1000(spent),
      floorCpuSecondsPer1000: cpuSecondsPer1000(floorSpent),
      ownCpuMicrosPerItem: (cpuSecondsPer1000(spent) - cpuSecondsPer1000(floorSpent)) * 1_000,
      engineCpuSecondsPer1000: (spent.engine / spent.items) * 1_000,
      moduleCpuSecondsPer1000: (spent.module / spent.items) * 1_000,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      peakRssMiB: engine.running.engine.peakRssBytes() / 1_048_576,
    };
  } finally {
    await floor.running.stop();
    await engine.running.stop();
  }
}

/** Seconds of CPU by process, seconds of time, items. */
interface Spent {
  readonly items: number;
  readonly seconds: number;
  readonly engine: number;
  readonly module: number;
  readonly client: number;
}

/** An engine, or what stands for it, and what its items have cost. */
class Measured {
  readonly running: Engine;
  #items = 0;
  #seconds = 0;
  #client = 0;

  constructor(running: Engine) {
    this.running = running;
  }

  /** Submits items and waits until all are done. */
  async process(items: number, payloadBytes: number): Promise<void> {
    const startedMs = performance.now();
    const before = process.cpuUsage();
    await submit(this.running.runs, this.#items, items, payloadBytes);
    this.#items += items;
    await finished(this.running.runs, this.#items);
    const { user, system } = process.cpuUsage(before);
    this.#client += (user + system) / 1e6;
    this.#seconds += (performance.now() - startedMs) / 1_000;
  }

  spent(): Spent {
    const { engine, module } = this.running;
    const cpu = { engine: engine.cpuSeconds(), module: module.cpuSeconds(), client: this.#client };
    return { items: this.#items, seconds: this.#seconds, ...cpu };
  }
}

function since(before: Spent, after: Spent): Spent {
  return {
    items: after.items - before.items,
    seconds: after.seconds - before.seconds,
    engine: after.engine - before.engine,
    module: after.module - before.module,
    client: after.client - before.client,
  };
}

function cpuSecondsPer1000({ items, engine, module, client }: Spent): number {
  return ((engine + module + client) / items) * 1_000;
}

export interface LatencyResult {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly floorP50Ms: number;
}

/** Submit to done at 50 items a second, beside three raw calls one after the other. */
export async function latency(seconds: number, payloadBytes: number): Promise<LatencyResult> {
  const running = await startEngine();
  try {
    const caller = new RawCaller(addressOf(running.module));
    const payload = new Uint8Array(payloadBytes).fill(97);
    const floor: number[] = [];
    for (let round = 0; round < 200; round++) {
      const startedMs = performance.now();
      await caller.callThrice(payload, payload);
      floor.push(performance.now() - startedMs);
    }
    caller.close();
    const intervalMs = 1_000 / 50;
    const sentMs = new Map<string, number>();
    const beganMs = performance.now();
    for (let index = 0; index < seconds * 50; index++) {
      await pause(Math.max(0, beganMs + index * intervalMs - performance.now()));
      const key = `steady-${index}`;
      sentMs.set(key, performance.timeOrigin + performance.now());
      await running.runs.submit({ items: [item(key, payload)] }, { timeoutMs: 10_000 });
    }
    await finished(running.runs, seconds * 50);
    // The first second warms compilers and caches.
    const taken = (await endings(running.runs)).map(({ key, endedMs }) => endedMs - (sentMs.get(key) ?? endedMs));
    const warm = taken.slice(50);
    return {
      p50Ms: percentile(warm, 0.5),
      p99Ms: percentile(warm, 0.99),
      maxMs: percentile(warm, 1),
      floorP50Ms: percentile(floor, 0.5),
    };
  } finally {
    await running.stop();
  }
}

export function item(key: string, payload: Uint8Array) {
  const encoder = new TextEncoder();
  return { business, flow, key: encoder.encode(key), fields: [{ key: encoder.encode('payload'), value: payload }] };
}

/** Submits `item-<first>` and those after it in one stream. Resolves when all are accepted. */
export async function submit(
  runs: Client<typeof Runs>,
  first: number,
  items: number,
  payloadBytes: number,
): Promise<void> {
  const payload = new Uint8Array(payloadBytes).fill(97);
  const stream = runs.submitStream();
  const sending = (async () => {
    for (let from = first; from < first + items; from += batchItems) {
      const count = Math.min(batchItems, first + items - from);
      await stream.send({ items: Array.from({ length: count }, (_, index) => item(`item-${from + index}`, payload)) });
    }
    stream.end();
  })();
  for await (const { results } of stream.responses) {
    const refused = results.find(({ result }) => result.case !== 'accepted');
    if (refused) throw new Error(`an item was refused: ${JSON.stringify(refused.result.value)}`);
  }
  await sending;
}

/** Resolves when so many runs have succeeded; throws when one has not. */
export async function finished(runs: Client<typeof Runs>, expected: number): Promise<void> {
  for (;;) {
    const { states } = await runs.summarize({}, { timeoutMs: 60_000 });
    const succeeded = states
      .filter(({ state }) => state === State.SUCCEEDED)
      .reduce((sum, count) => sum + Number(count.runs), 0);
    const others = states.filter(({ state }) => state === State.FAILED || state === State.PARKED);
    if (others.length > 0) throw new Error('runs of the benchmark failed: its figures mean nothing');
    if (succeeded >= expected) return;
    // Seldom, since a count reads the index of all runs, which is no work of the items.
    await pause(100);
  }
}

async function latenciesMs(runs: Client<typeof Runs>): Promise<number[]> {
  return (await endings(runs)).map(({ createdMs, endedMs }) => endedMs - createdMs);
}

/** How a run went: when it was created and ended, in ms since 1970, how often it was claimed and changed. */
export interface RunEnd {
  readonly key: string;
  readonly createdMs: number;
  readonly endedMs: number;
  readonly claims: number;
  readonly changes: number;
}

export async function endings(runs: Client<typeof Runs>): Promise<RunEnd[]> {
  const all: RunEnd[] = [];
  let pageToken = '';
  do {
    const page = await runs.list({ filter: { business, flow }, pageSize: 1_000, pageToken }, { timeoutMs: 60_000 });
    for (const run of page.runs) {
      const key = new TextDecoder().decode(run.name?.key);
      const times = { createdMs: milliseconds(run.createdAt), endedMs: milliseconds(run.since) };
      all.push({ key, ...times, claims: Number(run.epoch), changes: Number(run.version) });
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return all;
}

function milliseconds(time: { seconds: bigint; nanos: number } | undefined): number {
  return time ? Number(time.seconds) * 1_000 + time.nanos / 1e6 : Number.NaN;
}
