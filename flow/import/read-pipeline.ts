// A pipeline of tasks and dependencies as a flow:
//
//   { "pipeline": { "name": …, "tasks": [{ "id": …, "className": … }], "dependencies": [{ "from": …, "to": … }] } }

import { create } from '@bufbuild/protobuf';
import { type Call, CallSchema, type Flow, FlowSchema } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults, flowLimits } from '../definition/limits.ts';
import { locate } from '../definition/places.ts';
import { type FlowFault, type FlowProblem, faultCollector, quoted, type Report } from '../definition/problem.ts';
import { type Located, readItems, readMembers, readText, requireKeys } from '../definition/reader.ts';
import { readSource } from '../definition/source.ts';
import { validateFlow } from '../definition/validate.ts';
import { rings } from '../definition/validation/rings.ts';
import { flowView } from '../definition/validation/view.ts';
import { didYouMean } from '../nearest-name.ts';
import { moduleOfClass } from './class-name.ts';
import { printOriginalNames } from './original-names.ts';
import { flowNameOf, renamed } from './renamed.ts';

export interface ImportOptions {
  /** The business line of the flow: pipelines have none. */
  readonly business: string;
  /** The name of the flow; by default the pipeline's, as far as a flow can have it. */
  readonly name?: string;
}

export type PipelineReading =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'problems'; readonly problems: readonly FlowProblem[] };

interface Task {
  readonly id: string;
  readonly className: string;
  readonly path: string;
}

interface Pipeline {
  readonly name: string;
  readonly tasks: readonly Task[];
  /** Ids of the tasks that each task waits for. */
  readonly after: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a pipeline. Either the flow, with names that a flow can't have kept in its description, or all that is wrong with the
 * pipeline in the order of the text. Never throws, whatever the text is.
 */
export function readPipeline(text: string, options: ImportOptions): PipelineReading {
  const source = readSource(text, 'a pipeline');
  if (source.kind === 'problems') return source;
  const { faults, report } = faultCollector();
  const pipeline = readRoot(report, { node: source.root, path: '' });
  if (faults.length === 0) checkRings(report, pipeline);
  const flow = flowOf(pipeline, options);
  // With rings or unknown tasks the flow is wrong in ways that have been told.
  if (faults.length === 0) faults.push(...faultsOf(flow, pipeline));
  const problems = [...source.problems, ...locate(source.root, faults)];
  if (problems.length === 0) return { kind: 'flow', flow };
  return {
    kind: 'problems',
    problems: problems.toSorted((one, other) => one.line - other.line || one.column - other.column),
  };
}

function readRoot(report: Report, root: Located): Pipeline {
  const { pipeline } = readMembers(report, root, ['pipeline'], 'the file of a pipeline');
  if (!pipeline) {
    if (root.node.kind === 'map') report('shape.required', '', "the file of a pipeline needs the key 'pipeline'");
    return { name: '', tasks: [], after: new Map() };
  }
  const members = readMembers(report, pipeline, ['name', 'tasks', 'dependencies'], 'a pipeline');
  requireKeys(report, pipeline, members, ['name', 'tasks'], 'a pipeline');
  const name = (members.name && readText(report, members.name, 'the name of a pipeline')) ?? '';
  const tasks = readItems(report, members.tasks, 'tasks').map((item) => readTask(report, item));
  const byId = new Map<string, Task>();
  for (const task of tasks) {
    const first = byId.get(task.id);
    if (first)
      report('names.unique', `${task.path}.id`, `two tasks are called ${quoted(task.id)}; first in ${first.path}`);
    else byId.set(task.id, task);
  }
  return { name, tasks, after: readDependencies(report, members.dependencies, byId) };
}

function readTask(report: Report, located: Located): Task {
  const members = readMembers(report, located, ['id', 'className'], 'a task');
  requireKeys(report, located, members, ['id', 'className'], 'a task');
  const text = (at: Located | undefined, what: string): string => {
    const value = (at && readText(report, at, what)) ?? '';
    if (at?.node.kind === 'scalar' && at.node.value === '') report('shape.value', at.path, `${what} is empty`);
    return value;
  };
  return {
    id: text(members.id, 'the id of a task'),
    className: text(members.className, 'the class of a task'),
    path: located.path,
  };
}

function readDependencies(
  report: Report,
  located: Located | undefined,
  byId: ReadonlyMap<string, Task>,
): ReadonlyMap<string, readonly string[]> {
  const after = new Map<string, string[]>();
  for (const item of readItems(report, located, 'dependencies')) {
    const members = readMembers(report, item, ['from', 'to'], 'a dependency');
    requireKeys(report, item, members, ['from', 'to'], 'a dependency');
    const end = (at: Located | undefined): string | undefined => {
      const id = at && readText(report, at, 'the end of a dependency');
      if (id === undefined || byId.has(id)) return id;
      report('references.step', at?.path ?? '', `no task is called ${quoted(id)}${didYouMean(id, byId.keys())}`);
      return undefined;
    };
    const [from, to] = [end(members.from), end(members.to)];
    if (from === undefined || to === undefined) continue;
    const earlier = after.get(to) ?? [];
    if (earlier.includes(from)) {
      report('references.duplicate', item.path, `${quoted(to)} depends on ${quoted(from)} already`);
    } else after.set(to, [...earlier, from]);
  }
  return after;
}

/** Rings are looked for among the tasks' own ids, so that messages name them. */
function checkRings(report: Report, { tasks, after }: Pipeline): void {
  const steps = tasks.map(({ id }) => ({ id, after: [...(after.get(id) ?? [])] }));
  rings(flowView(create(FlowSchema, { steps })), (rule, _, message) => {
    report(rule, 'pipeline.dependencies', message.replace(/^a step/, 'a task'));
  });
}

function flowOf({ name, tasks, after }: Pipeline, { business, name: flowName }: ImportOptions): Flow {
  const ids = renamed(
    tasks.map(({ id }) => id),
    'task_',
    (id) => (/^[a-z][a-z0-9_]{0,63}$/.test(id) && id !== 'input' && id !== 'exit' ? id : undefined),
  );
  const modules = renamed(
    tasks.map(({ className }) => className),
    'class-',
    (className) => {
      const module = moduleOfClass(className);
      return module !== undefined && module.length <= flowLimits.maxModuleCharacters ? module : undefined;
    },
  );
  const isOwnName = (flowName ?? flowNameOf(name)) === name;
  return create(FlowSchema, {
    name: flowName ?? flowNameOf(name),
    business,
    description: printOriginalNames({
      pipeline: isOwnName ? undefined : name,
      tasks: ids.originals,
      classes: modules.originals,
    }),
    deadlineMs: BigInt(flowDefaults.deadlineMs),
    steps: tasks.map(({ id, className }) => ({
      id: ids.nameOf(id),
      after: (after.get(id) ?? []).map(ids.nameOf),
      kind: { case: 'call' as const, value: defaultCall(modules.nameOf(className)) },
    })),
  });
}

/** A pipeline says nothing of how a task is called. */
function defaultCall(module: string): Call {
  const { timeoutMs, tries, firstBackoffMs, maxBackoffMs, maxLosses } = flowDefaults;
  return create(CallSchema, {
    module,
    timeoutMs: BigInt(timeoutMs),
    retry: { tries, firstMs: BigInt(firstBackoffMs), maxMs: BigInt(maxBackoffMs) },
    maxLosses,
  });
}

/** What is wrong with the flow, said of the pipeline: its size, the names that were asked for. */
function faultsOf(flow: Flow, { tasks }: Pipeline): FlowFault[] {
  const paths = new Map(flow.steps.map(({ id }, index) => [`steps.${id}`, tasks[index]?.path ?? '']));
  return validateFlow(flow).map(({ rule, path, message }) => {
    const step = /^steps\.[^.[]+/.exec(path)?.[0] ?? '';
    const place = paths.get(step) ?? (path === 'steps' ? 'pipeline.tasks' : 'pipeline.name');
    return { rule, path: place, message };
  });
}
