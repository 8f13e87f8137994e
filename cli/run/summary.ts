// `weir run summary`

import { Ending, Reason, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { Runs, type StepSummary, type SummarizeResponse } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { type Cell, table } from '../output/table.ts';
import { count, enumName } from '../output/text.ts';
import { type FilterOptions, filterOf } from './filter.ts';

export interface SummaryOptions extends FilterOptions {
  /** Calls and times of steps too, when a flow is named. */
  readonly steps: boolean;
}

export async function summarizeRuns(options: SummaryOptions, address: string, printer: Printer): Promise<void> {
  const request = { filter: filterOf(options), withSteps: options.steps && options.flow !== undefined };
  const summary = await askEngine(Runs, address, (runs) => runs.summarize(request, callOptions));
  if (printer.json) return printer.line(toJson(toObject(summary)));
  const parts = [statesText(summary)];
  if (summary.steps.length > 0) parts.push(table(stepHead, summary.steps.map(stepRow)));
  printer.line(parts.join('\n\n'));
}

function toObject({ states, steps }: SummarizeResponse) {
  return {
    runs: states.map(({ state, reason, runs }) => {
      return { state: enumName(State, state), reason: enumName(Reason, reason), count: runs };
    }),
    steps: steps.map(({ step, module, endings, p50Ms, p99Ms }) => ({
      ...{ step, module },
      endings: Object.fromEntries(endings.map(({ ending, calls }) => [enumName(Ending, ending), calls])),
      ...{ p50Ms, p99Ms },
    })),
  };
}

function statesText({ states }: SummarizeResponse): string {
  const rows = states.map(({ state, reason, runs }): Cell[] => {
    return [enumName(State, state), enumName(Reason, reason), Number(runs)];
  });
  return table(['STATE', 'REASON', 'RUNS'], rows);
}

const stepHead = ['STEP', 'MODULE', 'CALLS', 'P50 MS', 'P99 MS', 'ENDINGS'];

function stepRow({ step, module, endings, p50Ms, p99Ms }: StepSummary): Cell[] {
  const calls = endings.reduce((sum, ending) => sum + Number(ending.calls), 0);
  const noted = endings.map((each) => `${enumName(Ending, each.ending)} ${count(each.calls)}`).join(', ');
  return [step, module, calls, p50Ms.toFixed(1), p99Ms.toFixed(1), noted];
}
