// Summarize: runs by state, and how the calls of each step ended.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { branchOf } from '../../flow/branch-path.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import { Ending, type Execution } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Runs, StepSummarySchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { RunQuery, Store } from '../../store/port.ts';
import { DurationSample } from './duration-sample.ts';
import { queryOf } from './inspect.ts';

/** Durations kept for each step: percentiles are exact up to as many calls, and within a fraction of a percent beyond. */
const maxDurations = 100_000;

/** Pairs of step and module: a thousand steps, some of whose versions called another module. */
const maxSummaries = 2_000;

/** Endings without an answer whose time could be told. */
const unanswered: ReadonlySet<Ending> = new Set([
  Ending.UNSPECIFIED,
  Ending.TIMED_OUT,
  Ending.UNREACHABLE,
  Ending.LOST,
]);

/** `random`: uniform in [0, 1). */
export function summarizeHandlers(store: Store, random: () => number): Pick<Handlers<typeof Runs>, 'summarize'> {
  return {
    summarize: async ({ filter, withSteps }, { signal }) => {
      const query = await queryOf(store, filter);
      if (withSteps && query.flow === undefined) {
        throw new RpcError(
          Code.INVALID_ARGUMENT,
          'filter.flow: is absent; with_steps needs it, since steps are named within a flow',
        );
      }
      const counts = await store.count(query);
      const states = counts.map(({ state, reason, runs }) => ({ state, reason, runs: BigInt(runs) }));
      return { states, steps: withSteps ? await summarizeSteps(store, query, random, signal) : [] };
    },
  };
}

interface Summary {
  readonly step: string;
  readonly module: string;
  readonly calls: Map<Ending, number>;
  readonly durations: DurationSample;
}

/** In the order in which steps were first called. */
async function summarizeSteps(
  store: Store,
  query: RunQuery,
  random: () => number,
  signal: AbortSignal,
): Promise<Array<MessageInitShape<typeof StepSummarySchema>>> {
  const summaries = new Map<string, Summary>();
  for await (const executions of store.allExecutions(query)) {
    signal.throwIfAborted();
    for (const execution of executions) {
      // The branches of a step are one line: they do the same.
      const step = branchOf(execution.step)?.step ?? execution.step;
      const key = `${step} ${execution.module}`;
      const known = summaries.get(key);
      if (known) note(known, execution);
      else if (summaries.size < maxSummaries) {
        const { module } = execution;
        const summary = { step, module, calls: new Map(), durations: new DurationSample(maxDurations, random) };
        summaries.set(key, summary);
        note(summary, execution);
      }
    }
  }
  return [...summaries.values()].map(toMessage);
}

function note({ calls, durations }: Summary, { ending, durationUs }: Execution): void {
  calls.set(ending, (calls.get(ending) ?? 0) + 1);
  if (!unanswered.has(ending)) durations.add(Number(durationUs));
}

function toMessage({ step, module, calls, durations }: Summary): MessageInitShape<typeof StepSummarySchema> {
  const [p50Us = 0, p99Us = 0] = durations.percentiles([0.5, 0.99]);
  const endings = [...calls]
    .sort(([one], [other]) => one - other)
    .map(([ending, count]) => ({ ending, calls: BigInt(count) }));
  return { step, module, endings, p50Ms: p50Us / 1_000, p99Ms: p99Us / 1_000 };
}
