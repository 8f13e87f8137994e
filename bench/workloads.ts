// W1: as many items as go through. L: items at a steady pace, and how long each takes.

import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../platform/rpc/client.ts';
import { State } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { business, type Engine, flow, startEngine } from './engine.ts';
import { start } from './measured-process.ts';
import { percentile } from './statistics.ts';

/** Items in one message of the stream. */
const batchItems = 100;
/** Calls in flight of the floor: what the engine may have out at its one endpoint. */
const floorInFlight = 128;

export interface W1Result {
  readonly itemsPerSecond: number;
  readonly cpuSecondsPer1000: number;
  readonly engineCpuSecondsPer1000: number;
  readonly floorItemsPerSecond: number;
  readonly floorCpuSecondsPer1000: number;
  /** Ours: all CPU less the floor's, of an item. */
  readonly ownCpuMicrosPerItem: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly peakRssMiB: number;
}

export async function w1(items: number, payloadBytes: number): Promise<W1Result> {
  const floor = await measureFloor(items, payloadBytes);
  const running = await startEngine();
  try {
    await submit(running.runs, Math.ceil(items / 10), payloadBytes, 'warm');
    await finished(running.runs, Math.ceil(items / 10));
    const cpuBefore = cpu(running);
    const clientBefore = process.cpuUsage();
    const startedMs = performance.now();
    await submit(running.runs, items, payloadBytes, 'item');
    await finished(running.runs, items + Math.ceil(items / 10));
    const seconds = (performance.now() - startedMs) / 1_000;
    const client = process.cpuUsage(clientBefore);
    const cpuAfter = cpu(running);
    const clientSeconds = (client.user + client.system) / 1e6;
    const total = cpuAfter.total - cpuBefore.total + clientSeconds;
    const latencies = await latenciesMs(running.runs);
    return {
      itemsPerSecond: items / seconds,
      cpuSecondsPer1000: (total / items) * 1_000,
      engineCpuSecondsPer1000: ((cpuAfter.engine - cpuBefore.engine) / items) * 1_000,
      floorItemsPerSecond: floor.itemsPerSecond,
      floorCpuSecondsPer1000: floor.cpuSecondsPer1000,
      ownCpuMicrosPerItem: (total / items) * 1e6 - floor.cpuSecondsPer1000 * 1_000,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      peakRssMiB: running.engine.peakRssBytes() / 1_048_576,
    };
  } finally {
    await running.stop();
  }
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
    const { port } = running.module.greeting as { port: number };
    const { callRaw } = await import('./raw-calls.ts');
    const payload = new Uint8Array(payloadBytes).fill(97);
    const floor: number[] = [];
    for (let round = 0; round < 200; round++) {
      const startedMs = performance.now();
      await callRaw(`127.0.0.1:${port}`, 1, 1, payload);
      floor.push(performance.now() - startedMs);
    }
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

async function measureFloor(items: number, payloadBytes: number) {
  const module = await start('bench/echo-module.ts');
  const { port } = module.greeting as { port: number };
  const args = [`127.0.0.1:${port}`, items, floorInFlight, payloadBytes].map(String);
  const client = await start('bench/floor-process.ts', ...args);
  const before = module.cpuSeconds() + client.cpuSeconds();
  const startedMs = performance.now();
  const done = new Promise((resolve) => client.child.once('message', resolve));
  client.child.send('go');
  await done;
  const seconds = (performance.now() - startedMs) / 1_000;
  const cpuSeconds = module.cpuSeconds() + client.cpuSeconds() - before;
  await client.stop();
  await module.stop();
  return { itemsPerSecond: items / seconds, cpuSecondsPer1000: (cpuSeconds / items) * 1_000 };
}

function cpu({ engine, module }: Engine): { total: number; engine: number } {
  return { total: engine.cpuSeconds() + module.cpuSeconds(), engine: engine.cpuSeconds() };
}

function item(key: string, payload: Uint8Array) {
  const encoder = new TextEncoder();
  return { business, flow, key: encoder.encode(key), fields: [{ key: encoder.encode('payload'), value: payload }] };
}

async function submit(runs: Client<typeof Runs>, items: number, payloadBytes: number, prefix: string): Promise<void> {
  const payload = new Uint8Array(payloadBytes).fill(97);
  const stream = runs.submitStream();
  const sending = (async () => {
    for (let from = 0; from < items; from += batchItems) {
      const count = Math.min(batchItems, items - from);
      await stream.send({
        items: Array.from({ length: count }, (_, index) => item(`${prefix}-${from + index}`, payload)),
      });
    }
    stream.end();
  })();
  for await (const { results } of stream.responses) {
    const refused = results.find(({ result }) => result.case !== 'accepted');
    if (refused) throw new Error(`an item was refused: ${JSON.stringify(refused.result.value)}`);
  }
  await sending;
}

async function finished(runs: Client<typeof Runs>, expected: number): Promise<void> {
  for (;;) {
    const { states } = await runs.summarize({}, { timeoutMs: 60_000 });
    const succeeded = states
      .filter(({ state }) => state === State.SUCCEEDED)
      .reduce((sum, count) => sum + Number(count.runs), 0);
    const others = states.filter(({ state }) => state === State.FAILED || state === State.PARKED);
    if (others.length > 0) throw new Error('runs of the benchmark failed: its figures mean nothing');
    if (succeeded >= expected) return;
    await pause(100);
  }
}

async function latenciesMs(runs: Client<typeof Runs>): Promise<number[]> {
  return (await endings(runs)).map(({ createdMs, endedMs }) => endedMs - createdMs);
}

async function endings(runs: Client<typeof Runs>): Promise<Array<{ key: string; createdMs: number; endedMs: number }>> {
  const all: Array<{ key: string; createdMs: number; endedMs: number }> = [];
  let pageToken = '';
  do {
    const page = await runs.list({ filter: { business, flow }, pageSize: 1_000, pageToken }, { timeoutMs: 60_000 });
    for (const run of page.runs) {
      const key = new TextDecoder().decode(run.name?.key);
      all.push({ key, createdMs: milliseconds(run.createdAt), endedMs: milliseconds(run.since) });
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  return all;
}

function milliseconds(time: { seconds: bigint; nanos: number } | undefined): number {
  return time ? Number(time.seconds) * 1_000 + time.nanos / 1e6 : Number.NaN;
}
