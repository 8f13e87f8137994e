// One simulated world from one seed: real dispatches, spouts and flows, and everything around them made up and faulty.
//
// A world is born, things go wrong in it for some minutes, it heals, and then has to come to rest. The history is judged.

import type { DispatchSettings } from '../../dispatch/settings.ts';
import type { RunId } from '../../flow/run.ts';
import { check, type Violation } from './checkers/check.ts';
import type { StoredView } from './checkers/checker.ts';
import { type Counts, countsOf } from './counts.ts';
import { Caretaker } from './workload/caretaker.ts';
import { Client } from './workload/client.ts';
import { isSubmitted, madeUpPlans } from './workload/families.ts';
import { type PlannedItem, plannedItems } from './workload/items.ts';
import { LaterAnswers } from './workload/later-answers.ts';
import { Meddler } from './workload/meddler.ts';
import { Cuts } from './world/cuts.ts';
import { DeadlyItems } from './world/deadly-items.ts';
import { clockJumpMs, Disruptions } from './world/disruptions.ts';
import { worst } from './world/fault-kinds.ts';
import { Faults } from './world/faults.ts';
import { FlowVersions } from './world/flow-versions.ts';
import { History, type HistoryRecord } from './world/history.ts';
import { SimulatedLocks } from './world/locks.ts';
import { SimulatedMembership, sessionTimeoutMs } from './world/membership.ts';
import { SimulatedModules } from './world/modules.ts';
import type { SimulatedProcess, Surroundings } from './world/process.ts';
import { Random } from './world/random.ts';
import { SimulatedStore } from './world/store.ts';
import { VirtualTime } from './world/time.ts';
import { topology } from './world/topology.ts';

export interface Simulation {
  readonly seed: number;
  readonly history: readonly HistoryRecord[];
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

/** How long things go wrong, in ms. */
const faultsMs = { least: 60_000, most: 150_000 };
/**
 * How long everything may take to come to rest after healing, in ms. One after the other: a process that stands still goes on
 * (45 s), gives up a write that nobody answered (70 s), its holder is asked for the run (20 s), a lock runs out (30 s); then a step
 * is called four times with pauses between (100 s), which its owner wants twice more, and a parent that heard nothing looks at its
 * child (60 s). Together about 525 s.
 */
const restMs = 600_000;
/**
 * Where a clock was an hour ahead, times are stored that lie an hour ahead. What isn't at rest after so long, in ms, may wait for
 * such a time: all wall clocks go on by that hour at once, and everything has `restMs` from there. An idle hour would show no more.
 */
const restBeforeLeapMs = 120_000;
/** How often it is looked whether everything is at rest, in ms. */
const lookEveryMs = 1_000;
/** Few, so that an idle world costs little; more than most worlds have spouts. */
const shards = 4;

export async function simulate(seed: number): Promise<Simulation> {
  const { world, client, items, poison, badMs } = makeWorld(seed);
  const { time, history, faults, flows, processes, store } = world;
  const { kinds, isOnlyPoisoned } = faults;
  const names = processes.map(({ name }) => name);
  history.add({ kind: 'world', processes: names, faults: kinds, poison: [...poison], isOnlyPoisoned });
  flows.begin();
  for (const process of processes) process.start();
  client.begin(items);
  new Meddler({ ...world, random: new Random(seed, 'meddling') }).begin();
  new Caretaker({ ...world, client, random: new Random(seed, 'caring') }).begin();
  new LaterAnswers({ ...world, client, random: new Random(seed, 'answering later') }).begin();
  const disruptions = new Disruptions(world);
  disruptions.begin();
  await time.run(badMs);
  disruptions.heal();
  const cameToRest = await runToRest(world, client);
  const tookMs = time.elapsedMs - badMs;
  for (const process of processes) process.current?.clock.stop();
  const stored = await storedRuns(store);
  const expectedFaults = faults.expected;
  const counts = countsOf({ history: history.records, stored, restMs: tookMs, expectedFaults });
  const violations = check({ records: history.records, planOf: flows.planOf, stored, cameToRest });
  return { seed, history: history.records, violations, counts };
}

interface World {
  readonly world: Surroundings;
  readonly client: Client;
  readonly items: readonly PlannedItem[];
  readonly poison: ReadonlySet<string>;
  readonly badMs: number;
}

function makeWorld(seed: number): World {
  const time = new VirtualTime();
  const history = new History(time);
  const workload = new Random(seed, 'workload');
  const scheduling = new Random(seed, 'scheduling');
  const faults = new Faults(new Random(seed, 'faults'), history);
  const cuts = new Cuts(time);
  const base = { time, history, scheduling, faults, cuts };
  const isDeadly = faults.has('deadly item') && workload.chance(worst['deadly item']);
  const plans = madeUpPlans(workload, isDeadly ? patient : faults.isOnlyPoisoned ? lenient : strict);
  const badMs = workload.between(faultsMs.least, faultsMs.most);
  const first = [...plans.values()].flatMap(([plan]) => plan ?? []).filter(isSubmitted);
  const poisoned = isDeadly ? 1 : faults.has('poison item') ? workload.between(1, 2) : 0;
  const planned = plannedItems(workload, { plans: first, duringMs: badMs * 0.8, poisoned });
  const items = isDeadly
    ? planned.items.map((item, index) => (index === 0 ? withoutWishes(item) : item))
    : planned.items;
  const poison = isDeadly ? new Set<string>() : planned.poison;
  const store = new SimulatedStore(base, shards);
  const processes: SimulatedProcess[] = [];
  const world: Surroundings = {
    ...base,
    store,
    modules: new SimulatedModules(base, new Random(seed, 'modules'), poison),
    membership: new SimulatedMembership(base),
    locks: new SimulatedLocks(base),
    flows: new FlowVersions(base, plans),
    dispatchSettings: madeUpSettings(workload),
    spoutSettings: calmSpout,
    processes,
  };
  processes.push(...topology(world, workload));
  const random = new Random(seed, 'clients');
  const client = new Client({ ...world, random, look: (run) => store.control(run) });
  if (isDeadly) new DeadlyItems(world, planned.poison).begin();
  return { world, client, items, poison, badMs };
}

/** Of the calls of a step how many may be lost: few; so many that losses which others cause park nobody; more than claims in vain. */
const strict = [1, 1, 2, 5];
const lenient = [5];
const patient = [40];

/** Its owner wants nothing of it once it is taken in: what kills a process seventeen times takes long enough as it is. */
function withoutWishes(planned: PlannedItem): PlannedItem {
  return { ...planned, wishes: [], again: [], generations: 0, retries: 0 };
}

/** Whether everything came to rest in the time it may take. */
async function runToRest({ time, store, history }: Surroundings, client: Client): Promise<boolean> {
  const isAtRest = () => client.isDone && store.isAtRest;
  const wasSetWrong = history.records.some((record) => record.kind === 'fault' && record.fault === 'clock jump');
  if (wasSetWrong) {
    if (await runUntil(time, restBeforeLeapMs, isAtRest)) return true;
    time.leap(clockJumpMs);
  }
  return runUntil(time, restMs, isAtRest);
}

async function runUntil(time: VirtualTime, mostMs: number, isAtRest: () => boolean): Promise<boolean> {
  const untilMs = time.elapsedMs + mostMs;
  for (let nextMs = time.elapsedMs; nextMs < untilMs; nextMs += lookEveryMs) {
    await time.run(nextMs);
    if (isAtRest()) return true;
  }
  return false;
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
    for (const { run, fence, entries, holder } of page.runs) {
      const { control, steps, fields } = run;
      found.set(run.id, { fence, control, steps, fields, entries, isHeld: holder !== undefined });
    }
    after = page.next;
  } while (after !== undefined);
  return found;
}
