// A flow as a pipeline of tasks and dependencies. A pipeline knows less than a flow: what it has no words for is refused.

import type { Flow, Step } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { authoredFlow, type TreeMap } from '../definition/authored.ts';
import { childPath } from '../definition/problem.ts';
import { classOfModule } from './class-name.ts';
import { type OriginalNames, readOriginalNames } from './original-names.ts';

/** In the form of the file. */
export interface PipelineFile {
  readonly pipeline: {
    readonly name: string;
    readonly tasks: ReadonlyArray<{ readonly id: string; readonly className: string }>;
    readonly dependencies: ReadonlyArray<{ readonly from: string; readonly to: string }>;
  };
}

export interface ExportFault {
  /** In the flow: `steps.score.retry`. */
  readonly path: string;
  readonly message: string;
}

export type PipelineWriting =
  | { readonly kind: 'pipeline'; readonly file: PipelineFile }
  | { readonly kind: 'faults'; readonly faults: readonly ExportFault[] };

/** Keys of a flow that a pipeline has or does without: its name is the pipeline's, and its description keeps the original names. */
const knownFlowKeys: ReadonlySet<string> = new Set(['flow', 'business', 'description', 'steps']);
const knownStepKeys: ReadonlySet<string> = new Set(['after', 'call']);

/**
 * The pipeline, its dependencies in the order of the tasks that have them; or everything that can't be said in one. The business
 * line, and what the description says besides names, are left out.
 */
export function writePipeline(flow: Flow): PipelineWriting {
  const names = readOriginalNames(flow.description);
  const taskOf = (id: string): string => names.tasks.get(id) ?? id;
  const faults = [
    ...unknownKeys(flow),
    ...flow.steps.flatMap((step) => modulesWithoutClass(names, step)),
    ...sameTasks(flow.steps, taskOf),
  ];
  if (faults.length > 0) return { kind: 'faults', faults };
  return {
    kind: 'pipeline',
    file: {
      pipeline: {
        name: names.pipeline ?? flow.name,
        tasks: flow.steps.map((step) => ({ id: taskOf(step.id), className: classOf(names, moduleOf(step)) ?? '' })),
        dependencies: flow.steps.flatMap(({ id, after }) =>
          after.map((earlier) => ({ from: taskOf(earlier), to: taskOf(id) })),
        ),
      },
    },
  };
}

/** What its author said beyond tasks and dependencies. Defaults are not said. */
function unknownKeys(flow: Flow): ExportFault[] {
  const authored = authoredFlow(flow);
  const ofFlow = Object.keys(authored).filter((key) => !knownFlowKeys.has(key));
  const steps = Object.entries(authored['steps'] as TreeMap) as Array<[string, TreeMap]>;
  return [
    ...ofFlow.map((key) => fault(key, `a pipeline has no ${key}`)),
    ...steps.flatMap(([id, step]) => {
      const keys = Object.keys(step).filter((key) => !knownStepKeys.has(key));
      return keys.map((key) => fault(childPath(childPath('steps', id), key), `step ${id}: a task has no ${key}`));
    }),
  ];
}

function modulesWithoutClass(names: OriginalNames, step: Step): ExportFault[] {
  const module = moduleOf(step);
  if (step.kind.case !== 'call' || classOf(names, module) !== undefined) return [];
  const message = `step ${step.id}: no class is the module ${module}; modules of classes are words joined by '-'`;
  return [fault(`${childPath('steps', step.id)}.call`, message)];
}

/** Two steps that stand for one task: somebody gave a step the id that is kept for another. */
function sameTasks(steps: readonly Step[], taskOf: (id: string) => string): ExportFault[] {
  const seen = new Map<string, string>();
  return steps.flatMap(({ id }) => {
    const task = taskOf(id);
    const first = seen.get(task);
    if (first === undefined) seen.set(task, id);
    return first === undefined
      ? []
      : [fault(childPath('steps', id), `steps ${first} and ${id} are both task ${JSON.stringify(task)}`)];
  });
}

function moduleOf({ kind }: Step): string {
  return kind.case === 'call' ? kind.value.module : '';
}

function classOf({ classes }: OriginalNames, module: string): string | undefined {
  return classes.get(module) ?? classOfModule(module);
}

function fault(path: string, message: string): ExportFault {
  return { path, message };
}
