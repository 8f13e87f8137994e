// What stands in a data folder that no engine has open.

import { join } from 'node:path';
import type { RunId } from '../../../flow/run.ts';
import { Ending, type Execution, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { ListPage } from '../../../store/port.ts';
import { SqliteStore } from '../../../store/sqlite/sqlite-store.ts';

export type StoredRun = ListPage['runs'][number];

export async function withStore<Result>(data: string, read: (store: SqliteStore) => Promise<Result>): Promise<Result> {
  const store = new SqliteStore(join(data, 'runs.db'));
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

export async function* allRuns(store: SqliteStore): AsyncGenerator<StoredRun> {
  let after: string | undefined;
  do {
    const page = await store.list({ states: [] }, 1_000, after);
    yield* page.runs;
    after = page.next;
  } while (after !== undefined);
}

/** Runs with a call that was out, and their versions. */
export async function runningRuns(data: string): Promise<Map<RunId, number>> {
  return withStore(data, async (store) => {
    const running = new Map<RunId, number>();
    for await (const { run, fence } of allRuns(store)) {
      const out = [...run.steps.values()].some((step) => step.status === StepStatus.RUNNING);
      if (out) running.set(run.id, fence.version);
    }
    return running;
  });
}

interface Calls {
  readonly step: string;
  readonly round: number;
  calls: number;
  declined: number;
}

/** Calls per step and round, as recorded, with the answers among them that declined. */
export function callsOf(executions: readonly Execution[]): Iterable<Calls> {
  const counts = new Map<string, Calls>();
  for (const { step, round, ending } of executions) {
    // What was never sent is no call.
    if (ending === Ending.UNREACHABLE) continue;
    const key = `${step}/${round}`;
    const count = counts.get(key) ?? { step, round, calls: 0, declined: 0 };
    count.calls++;
    if (ending === Ending.OVERLOADED || ending === Ending.OVER_LIMITS || ending === Ending.NO_AUTH) count.declined++;
    counts.set(key, count);
  }
  return counts.values();
}
