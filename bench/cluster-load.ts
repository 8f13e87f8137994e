// Items for a cluster. Each has bytes of its own, since HBase stores once what is the same in neighbouring cells.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../platform/rpc/client.ts';
import type { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import type { ClusterProcesses } from './cluster-processes.ts';
import { item } from './workloads.ts';

/** Items in one message. */
const batchItems = 100;
/** Requests under way to each dispatch in a burst: many more items than it holds. */
const requestsAtATime = 32;
/** Items one at a time, for the latency while nothing waits. */
const steadyIntervalMs = 20;
/** How long items may take in all, and one request. */
const patienceMs = 600_000;
const requestMs = 60_000;

type Send = (runs: Client<typeof Runs>, batches: readonly Batch[]) => Promise<void>;
type Batch = ReadonlyArray<ReturnType<typeof item>>;

/** `streamed`: a dispatch takes them in as it has room, and begins them at once. `burst`: all are stored first, and spouts offer most of them. */
export type Manner = 'streamed' | 'burst';
const send: Record<Manner, Send> = { streamed: sendStreamed, burst: sendBurst };

export interface Load {
  readonly manner: Manner;
  /** Of the items' keys. */
  readonly prefix: string;
  readonly items: number;
  readonly payloadBytes: number;
}

/** Submits to all dispatches alike; resolves when the last step of the last item was called. Its commit may be under way. */
export async function work({ runs, lastCalls }: ClusterProcesses, load: Load): Promise<void> {
  const { manner, prefix, items, payloadBytes } = load;
  const shares: Batch[][] = runs.map(() => []);
  for (let first = 0, turn = 0; first < items; first += batchItems, turn++) {
    const count = Math.min(batchItems, items - first);
    const batch = Array.from({ length: count }, (_, index) =>
      item(`${prefix}-${first + index}`, randomBytes(payloadBytes)),
    );
    shares[turn % runs.length]?.push(batch);
  }
  const called = (await lastCalls()) + items;
  await Promise.all(runs.map((each, index) => send[manner](each, shares[index] ?? [])));
  const giveUpMs = performance.now() + patienceMs;
  while ((await lastCalls()) < called) {
    if (performance.now() > giveUpMs) throw new Error(`${items} items were not done after ${patienceMs} ms`);
    await pause(20);
  }
}

/** One item after the other at a steady pace, to each dispatch in turn. Resolves when all are accepted. */
export async function trickle({ runs }: ClusterProcesses, { prefix, items, payloadBytes }: Load): Promise<void> {
  const beganMs = performance.now();
  for (let index = 0; index < items; index++) {
    await pause(Math.max(0, beganMs + index * steadyIntervalMs - performance.now()));
    const one = item(`${prefix}-${index}`, randomBytes(payloadBytes));
    const response = await runs[index % runs.length]?.submit({ items: [one] }, { timeoutMs: requestMs });
    expectAccepted(response?.results ?? []);
  }
}

async function sendStreamed(runs: Client<typeof Runs>, batches: readonly Batch[]): Promise<void> {
  const stream = runs.submitStream();
  const sending = (async () => {
    for (const items of batches) await stream.send({ items: [...items] });
    stream.end();
  })();
  for await (const { results } of stream.responses) expectAccepted(results);
  await sending;
}

async function sendBurst(runs: Client<typeof Runs>, batches: readonly Batch[]): Promise<void> {
  let next = 0;
  const sender = async () => {
    for (;;) {
      const items = batches[next++];
      if (!items) return;
      expectAccepted((await runs.submit({ items: [...items] }, { timeoutMs: requestMs })).results);
    }
  };
  await Promise.all(Array.from({ length: requestsAtATime }, sender));
}

function expectAccepted(results: ReadonlyArray<{ readonly result: { readonly case: string | undefined } }>): void {
  const refused = results.find(({ result }) => result.case !== 'accepted');
  if (refused) throw new Error(`an item was refused: ${JSON.stringify(refused.result)}`);
}
