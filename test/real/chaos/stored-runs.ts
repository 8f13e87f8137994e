// What stands in a store, run by run.

import { Ending, type Execution } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { ListPage, Store } from '../../../store/port.ts';

export type StoredRun = ListPage['runs'][number];

export async function* allRuns(store: Store): AsyncGenerator<StoredRun> {
  let after: string | undefined;
  do {
    const page = await store.list({ states: [] }, 1_000, after);
    yield* page.runs;
    after = page.next;
  } while (after !== undefined);
}

export interface RecordedCalls {
  readonly step: string;
  readonly round: number;
  calls: number;
  declined: number;
  succeeded: number;
}

/** Calls per step and round, as the engine recorded them. */
export function recordedCalls(executions: readonly Execution[]): Iterable<RecordedCalls> {
  const counts = new Map<string, RecordedCalls>();
  for (const { step, round, ending } of executions) {
    // What was never sent is no call.
    if (ending === Ending.UNREACHABLE) continue;
    const key = `${step}/${round}`;
    const count = counts.get(key) ?? { step, round, calls: 0, declined: 0, succeeded: 0 };
    count.calls++;
    if (ending === Ending.OVERLOADED || ending === Ending.OVER_LIMITS || ending === Ending.NO_AUTH) count.declined++;
    if (ending === Ending.SUCCEEDED) count.succeeded++;
    counts.set(key, count);
  }
  return counts.values();
}
