// A run that another one starts is what its parent's step says: of the flow and version that it names, with the fields that it sends,
// the row key, and time as long as the parent's at most. It begins after the step was stored as RUNNING, once in a round; one that is
// stopped before it begins, after its parent has decided so.

import type { Plan, StartFlowAction, SubFlowAction } from '../../../flow/plan.ts';
import { type FieldValue, inputWriter, type RunId, splitFieldKey } from '../../../flow/run.ts';
import { callKey, printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { WriteHappening } from '../world/history.ts';
import { elementOf } from './branches.ts';
import { childOf, consumedBy, type MakeChecker, type RunView, writtenSteps } from './checker.ts';
import { read } from './flow-rules.ts';

interface Start {
  readonly plan: Plan | undefined;
  readonly action: SubFlowAction | StartFlowAction;
  /** The parent when it decided. */
  readonly view: RunView;
}

export const childrenAreWanted: MakeChecker = (subject, report) => {
  const { planOfWrite } = subject;
  /** What was stored as to be started, by `run step round`. */
  const starts = new Map<string, Start>();
  /** Names of runs that are to be stopped, perhaps before they begin. */
  const stopped = new Set<string>();
  const children = new Map<string, RunId>();
  const released = new Set<string>();
  /** Levels that each run has had. */
  const levels = new Map<RunId, Set<number>>();
  /** The latest deadline that each run has had, in ms since 1970: a release gives it a fresh one. */
  const deadlines = new Map<RunId, number>();

  const noteStarts = ({ run, changes }: WriteHappening, before: RunView | undefined, after: RunView) => {
    deadlines.set(run, Math.max(deadlines.get(run) ?? 0, after.control.deadlineMs));
    const had = levels.get(run) ?? new Set();
    levels.set(run, had.add(after.control.level));
    // One write may carry several changes of it, and something that begins in between.
    for (const kind of consumedBy(changes, subject)) if (kind.case === 'level') had.add(kind.value.level);
    const plan = planOfWrite(before, after);
    for (const [path, { status, round }] of writtenSteps(changes)) {
      const action = status === StepStatus.RUNNING ? childOf(plan, path) : undefined;
      if (action) starts.set(`${run} ${path} ${round}`, { plan, action, view: after });
      const step = path.startsWith('tell/cancel/') ? path.slice('tell/cancel/'.length) : undefined;
      if (step !== undefined) stopped.add(callKey(run, step, after.steps.get(step)?.round ?? 1));
    }
  };

  const checkCreation = ({ run, holder }: WriteHappening, child: RunView) => {
    const { parent, itemKey, status } = child.control;
    if (!parent) return;
    const tell = (wrong: string) => report(`${printableRun(run)} ${wrong}`);
    if (holder === undefined && isTerminal(status.state)) {
      if (!stopped.has(Buffer.from(itemKey).toString())) tell('was stopped before it began, and nobody asked');
      return;
    }
    const name = `${parent.run} ${parent.step} ${parent.round}`;
    const start = starts.get(name);
    if (!start)
      return tell(`was started by ${parent.step} of ${printableRun(parent.run)}, which isn't stored as RUNNING`);
    const known = children.get(name) ?? run;
    children.set(name, run);
    if (known !== run) tell(`was started, and so was ${printableRun(known)}, by one round of one step`);
    for (const wrong of wrongIn(child, start, released)) tell(`was started ${wrong}`);
    if (parent.waits && child.control.deadlineMs > (deadlines.get(parent.run) ?? 0))
      tell('was started with more time than its parent has');
    if (levels.get(parent.run)?.has(child.control.level) !== true)
      tell(`was started at level ${child.control.level}, which its parent never had`);
  };

  return {
    see(record, before, after) {
      if (record.kind === 'flow' && record.what === 'released') released.add(`${record.flow} ${record.version}`);
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      if (record.operation === 'create') checkCreation(record, after);
      const started = startedBy(record, before, after, planOfWrite(before, after), children);
      for (const wrong of started) report(`${printableRun(record.run)} ${wrong}`);
      noteStarts(record, before, after);
    },
  };
};

/** What is wrong with the steps that started a run and went on. */
function* startedBy(
  { run, changes }: WriteHappening,
  before: RunView | undefined,
  after: RunView,
  plan: Plan | undefined,
  children: ReadonlyMap<string, RunId>,
): Iterable<string> {
  for (const [path, { status, child, round }] of writtenSteps(changes)) {
    const action = childOf(plan, path);
    if (action?.kind !== 'start_flow' || status !== StepStatus.DONE) continue;
    if (before?.steps.get(path)?.status === StepStatus.DONE) continue;
    const isChainOver = chainOf(after) >= action.maxChain;
    const started = children.get(`${run} ${path} ${round}`);
    if (child !== (isChainOver ? undefined : started) || (child === undefined && !isChainOver))
      yield `${path} is DONE with ${child ?? 'no run'}, started was ${started ?? 'none'}`;
  }
}

function* wrongIn({ control, fields }: RunView, start: Start, released: ReadonlySet<string>): Iterable<string> {
  const { action, view } = start;
  const { flow, flowVersion, parent } = control;
  const waits = action.kind === 'sub_flow';
  if (flow !== action.flow) yield `for flow ${action.flow}, and runs ${flow}`;
  const isNamed = waits && action.version > 0;
  if (isNamed ? flowVersion !== action.version : !released.has(`${flow} ${flowVersion}`))
    yield `with version ${flowVersion} of its flow, which its parent doesn't name`;
  const [sent, got] = [sentBy(start, parent?.step ?? ''), inputsOf(fields)];
  if (sent !== got) yield `with ${got}, its parent sent ${sent}`;
  const rowKey = view.control.rowKey ?? view.control.itemKey;
  if (Buffer.compare(control.rowKey ?? control.itemKey, rowKey) !== 0) yield 'with a row key of its own';
  if (parent?.waits !== waits) yield waits ? 'and nobody waits for it' : 'and somebody waits for it';
  if (waits && action.receive.join() !== parent?.receive.join()) yield 'and its parent wants other fields';
  const chain = chainOf(view) + (waits ? 0 : 1);
  if (parent?.chain !== chain) yield `as number ${parent?.chain} of a chain, and is number ${chain}`;
  if (action.kind === 'start_flow' && chain > action.maxChain)
    yield `as number ${chain} of a chain of ${action.maxChain}`;
}

function chainOf({ control }: RunView): number {
  return control.parent?.chain ?? 1;
}

function sentBy({ plan, action, view }: Start, path: string): string {
  const sent = new Map<string, string>();
  const element = elementOf(plan, path, view);
  if (element) sent.set(...element);
  for (const reading of action.send) {
    const value = read(view, reading);
    if (value) sent.set(reading.name, Buffer.from(value.bytes).toString('latin1'));
  }
  return textOf(sent);
}

function inputsOf(fields: ReadonlyMap<string, FieldValue>): string {
  const inputs = new Map<string, string>();
  for (const [key, { bytes }] of fields) {
    const { writer, name } = splitFieldKey(key);
    if (writer === inputWriter) inputs.set(name, Buffer.from(bytes).toString('latin1'));
  }
  return textOf(inputs);
}

function textOf(fields: ReadonlyMap<string, string>): string {
  return JSON.stringify([...fields].sort(([one], [other]) => (one < other ? -1 : 1)));
}
