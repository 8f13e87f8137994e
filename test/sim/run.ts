// One simulated world from one seed: real dispatches, spouts and flows, and everything around them made up and faulty.
//
// A world is born, things go wrong in it for some minutes, it heals, and then has to come to rest. The history is judged.

import type { Modules } from '../../dispatch/modules/port.ts';
import type { DispatchSettings } from '../../dispatch/settings.ts';
import type { Plan } from '../../flow/plan.ts';
import type { RunId } from '../../flow/run.ts';
import { Ending, type State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Store } from '../../store/port.ts';
import { check, type Violation } from './checkers/check.ts';
import type { StoredView } from './checkers/checker.ts';
import { Client, plannedItems } from './workload/client.ts';
import { business, madeUpPlan } from './workload/flows.ts';
import { Disruptions, topology } from './world/disruptions.ts';
import type { FaultKind } from './world/fault-kinds.ts';
import { Faults } from './world/faults.ts';
import { History, type HistoryRecord } from './world/history.ts';
import { SimulatedLocks } from './world/locks.ts';
import { SimulatedMembership, sessionTimeoutMs } from './world/membership.ts';
import { SimulatedModules } from './world/modules.ts';
import type { SimulatedProcess, Surroundings } from './world/process.ts';
import { Random } from './world/random.ts';
import { SimulatedStore } from './world/store.ts';
import { VirtualTime } from './world/time.ts';

/** A fault planted in the protocol, to see that the checkers find it. */
export interface Mutant {
  /** Of the store that all share. */
  readonly sharedStore?: (store: Store) => Store;
  /** Of the store as each process sees it. */
  readonly store?: (store: Store) => Store;
  readonly modules?: (modules: Modules) => Modules;
}

export interface Counts {
  readonly faults: ReadonlyMap<FaultKind, number>;
  readonly runs: number;
  readonly runsByState: ReadonlyMap<State, number>;
  readonly writesAccepted: number;
  readonly writesRefused: number;
  readonly callsAnswered: number;
  /** Calls with a key that was delivered before. */
  readonly callsRepeated: number;
  /** Calls that waited for a place and were taken back. */
  readonly callsWithdrawn: number;
  /** From healing until everything was at rest. */
  readonly restMs: number;
}

export interface Simulation {
  readonly seed: number;
  readonly history: readonly HistoryRecord[];
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

/** How long things go wrong, in ms. */
const faultsMs = { least: 60_000, most: 150_000 };
/**
 * How long everything may take to come to rest after healing, in ms. What takes longest is a write that nobody answers (about
 * a minute until it is given up), then a lost holder (protocol §5), then a step's backoff; several times over.
 */
const restMs = 600_000;
/** How often it is looked whether everything is at rest, in ms. */
const lookEveryMs = 1_000;
/** Few, so that an idle world costs little; more than there are spouts. */
const shards = 4;

export async function simulate(seed: number, mutant: Mutant = {}): Promise<Simulation> {
  const time = new VirtualTime();
  const history = new History(time);
  const workload = new Random(seed, 'workload');
  const scheduling = new Random(seed, 'scheduling');
  const faults = new Faults(new Random(seed, 'faults'), history);
  const plans = new Map(['flow-a', 'flow-b', 'flow-c'].map((name) => [name, madeUpPlan(workload, name)]));
  const store = new SimulatedStore({ time, faults, history, scheduling }, shards, mutant.sharedStore);
  const processes: SimulatedProcess[] = [];
  const world: Surroundings = {
    time,
    scheduling,
    faults,
    history,
    store,
    modules: new SimulatedModules({ time, faults, history, scheduling }),
    membership: new SimulatedMembership(time),
    locks: new SimulatedLocks({ time, faults, scheduling }),
    plans: plansPort(plans),
    dispatchSettings: madeUpSettings(workload),
    spoutSettings: calmSpout,
    processes,
    mutateStore: mutant.store ?? ((same) => same),
    mutateModules: mutant.modules ?? ((same) => same),
  };
  processes.push(...topology(world, workload));
  const client = new Client({ ...world, random: scheduling, status: (run) => store.status(run) });
  for (const process of processes) process.start();
  const badMs = workload.between(faultsMs.least, faultsMs.most);
  client.begin(plannedItems(workload, [...plans.keys()], business, badMs * 0.8));
  new Disruptions(world).begin();
  await time.run(badMs);
  faults.heal();
  for (const process of processes) process.start();
  const cameToRest = await runToRest(world, client);
  const tookMs = time.elapsedMs - badMs;
  for (const process of processes) process.current?.clock.stop();
  const stored = await storedRuns(store);
  const violations = check({ records: history.records, plans, stored, cameToRest });
  return { seed, history: history.records, violations, counts: counted(history.records, stored, tookMs) };
}

/** Whether everything came to rest in the time it may take. */
async function runToRest({ time, store }: Surroundings, client: Client): Promise<boolean> {
  const untilMs = time.elapsedMs + restMs;
  for (let nextMs = time.elapsedMs; nextMs < untilMs; nextMs += lookEveryMs) {
    await time.run(nextMs);
    if (client.isDone && store.isAtRest) return true;
  }
  return false;
}

function plansPort(plans: ReadonlyMap<string, Plan>): Surroundings['plans'] {
  return {
    released: async (flow) => plans.get(flow),
    pinned: async (flow, version) => (version === 1 ? plans.get(flow) : undefined),
  };
}

/** Looks less often than by default: time is free here, events are not. */
const calmSpout: Surroundings['spoutSettings'] = {
  scanEveryMs: 1_000,
  promoteEveryMs: 500,
  inboxEveryMs: 1_000,
  leaseEveryMs: 1_000,
  graceMs: 2 * sessionTimeoutMs,
};

/** Small limits, so that items wait for each other; short times, so that runs change hands. */
function madeUpSettings(random: Random): Partial<DispatchSettings> {
  return {
    maxRuns: random.pick([1, 5, 50]),
    maxClaims: random.pick([1, 4, 50]),
    keepMs: random.pick([100, 2_000]),
    lockTtlMs: random.pick([1_000, 15_000]),
    drainMs: random.pick([500, 10_000]),
    endingDeadlineMs: random.pick([20_000, 3_600_000]),
  };
}

async function storedRuns(store: SimulatedStore): Promise<ReadonlyMap<RunId, StoredView>> {
  const found = new Map<RunId, StoredView>();
  let after: string | undefined;
  do {
    const page = await store.inner.list({ states: [] }, 1_000, after);
    for (const { run, fence, entries } of page.runs) {
      found.set(run.id, { fence, control: run.control, steps: run.steps, entries });
    }
    after = page.next;
  } while (after !== undefined);
  return found;
}

function counted(history: readonly HistoryRecord[], stored: ReadonlyMap<RunId, StoredView>, tookMs: number): Counts {
  const faults = new Map<FaultKind, number>();
  const runsByState = new Map<State, number>();
  const keys = new Set<string>();
  let [writesAccepted, writesRefused, callsAnswered, callsRepeated, callsWithdrawn] = [0, 0, 0, 0, 0];
  for (const record of history) {
    if (record.kind === 'fault') faults.set(record.fault, (faults.get(record.fault) ?? 0) + 1);
    if (record.kind === 'write' && record.result === 'done') writesAccepted++;
    if (record.kind === 'write' && record.result !== 'done') writesRefused++;
    if (record.kind === 'withdrawal') callsWithdrawn++;
    if (record.kind !== 'delivery') continue;
    if (record.ending === Ending.SUCCEEDED) callsAnswered++;
    if (keys.has(record.call.callKey)) callsRepeated++;
    keys.add(record.call.callKey);
  }
  for (const { control } of stored.values()) {
    const { state } = control.status;
    runsByState.set(state, (runsByState.get(state) ?? 0) + 1);
  }
  const runs = stored.size;
  const calls = { callsAnswered, callsRepeated, callsWithdrawn };
  return { faults, runs, runsByState, writesAccepted, writesRefused, ...calls, restMs: tookMs };
}
