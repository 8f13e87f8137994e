// The floor of a cluster: the store alone. What a run of three steps writes that begins with its submission, by the same store and in
// the same groups, and nothing else: no decisions, no locks, no calls.

import { noChanges } from '../flow/change.ts';
import type { Control, RunId, StepState } from '../flow/run.ts';
import { runId, runParts } from '../flow/run-id.ts';
import { Ending, Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { type HBaseStore, openHBaseStore } from '../store/hbase/hbase-store.ts';
import type { ClusterServices } from './cluster-services.ts';
import { cpuSeconds } from './measured-process.ts';

const table = 'floor';
/** As a dispatch holds. */
const runsAtATime = 512;
const steps = ['first', 'second', 'third'] as const;
const holder = { processId: 'bench', incarnation: 'bench', claimedMs: 1 };

export interface FloorResult {
  readonly runsPerSecond: number;
  readonly hbaseCpuMsPer1000: number;
  readonly clientCpuMsPer1000: number;
}

export interface FloorLoad {
  readonly runs: number;
  readonly payloadBytes: number;
  /** Writes of a shard go out together: the more shards, the fewer in a call. The default of `weir store init` when absent. */
  readonly shards?: number;
}

/** A quarter of the runs come before those that are measured: they warm compilers. */
export async function storeFloor(
  services: ClusterServices,
  { runs, payloadBytes, shards }: FloorLoad,
): Promise<FloorResult> {
  await services.createTable(table, shards);
  const store = await openHBaseStore({ hbase: services.client, table });
  const payload = new Uint8Array(payloadBytes).fill(97);
  await drive(store, 'warm', Math.ceil(runs / 4), payload);
  const before = { hbase: cpuSeconds(services.hbase.pid), client: process.cpuUsage(), ms: performance.now() };
  await drive(store, 'run', runs, payload);
  const seconds = (performance.now() - before.ms) / 1_000;
  const { user, system } = process.cpuUsage(before.client);
  const result = {
    runsPerSecond: runs / seconds,
    hbaseCpuMsPer1000: ((cpuSeconds(services.hbase.pid) - before.hbase) * 1e6) / runs,
    clientCpuMsPer1000: (user + system) / runs,
  };
  await services.client.admin.deleteTable(table);
  return result;
}

async function drive(store: HBaseStore, prefix: string, runs: number, payload: Uint8Array): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < runs) await live(store, `${prefix}-${next++}`, payload);
  };
  await Promise.all(Array.from({ length: runsAtATime }, worker));
}

/** Created with its holder and the first step running; each commit ends a step and begins the next; the last one ends the run. */
async function live(store: HBaseStore, key: string, payload: Uint8Array): Promise<void> {
  const run = runId({ business: 'bench', flow: 'floor', itemKey: Buffer.from(key), generation: 1 });
  const created = { ...noChanges(), control: controlOf(run, State.OPEN) };
  created.fields.set('input/payload', { bytes: payload });
  created.steps.set(steps[0], stepOf(StepStatus.RUNNING));
  const entries = { ready: false, leaseMs: 1 };
  expectDone(await store.create({ run, writeId: `${key}-0`, changes: created, holder, entries }));
  for (const [index, step] of steps.entries()) {
    const changes = noChanges();
    changes.steps.set(step, stepOf(StepStatus.DONE));
    changes.fields.set(`${step}/${step}`, { bytes: payload });
    changes.executions.push({
      ...{ step, round: 1, attempt: 1, module: 'echo', endpoint: '127.0.0.1:10000', ending: Ending.SUCCEEDED, code: 0 },
      ...{ message: '', startedMs: 1, durationUs: 1_000, droppedFields: 0 },
    });
    const following = steps[index + 1];
    if (following !== undefined) changes.steps.set(following, stepOf(StepStatus.RUNNING));
    else changes.control = controlOf(run, State.SUCCEEDED);
    const expected = { epoch: 1, version: index + 1 };
    const end = following === undefined ? { release: { ready: false } } : {};
    expectDone(await store.commit({ run, writeId: `${key}-${index + 1}`, expected, changes, ...end }));
  }
}

function expectDone(result: { readonly kind: string }): void {
  if (result.kind !== 'done') throw new Error(`a write ended with ${JSON.stringify(result)}`);
}

function stepOf(status: StepStatus): StepState {
  const counts = { round: 1, attempts: 0, losses: 0, declines: 0 };
  return { status, ...counts, message: '', reason: Reason.UNSPECIFIED, startedMs: 1, endedMs: 1, dueMs: 0, chosen: [] };
}

function controlOf(run: RunId, state: State): Control {
  const status = { reason: Reason.UNSPECIFIED, detail: '', outcomeNumber: 0, outcome: State.UNSPECIFIED, sinceMs: 1 };
  return {
    ...runParts(run),
    ...{ flowVersion: 1, level: 5, order: 1, createdMs: 1, deadlineMs: 2, inputBytes: 0, superseded: false },
    creationHash: new Uint8Array(32),
    status: { state, ...status, evidence: [] },
  };
}
