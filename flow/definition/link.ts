// What a flow says of other flows. The core can't look them up, so that its caller hands them in: every flow that `flowsNamed`
// gives, and for those that are waited for the flows that these name in turn.

import { clone } from '@bufbuild/protobuf';
import { type Flow, FlowSchema, type Step } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { writtenBy } from '../graph.ts';
import { didYouMean } from '../nearest-name.ts';
import { flowLimits } from './limits.ts';
import { type FlowFault, faultCollector, quoted, type Report } from './problem.ts';
import type { RuleId } from './rules.ts';
import { stepPath, subFlowOf } from './validation/view.ts';

/** The rules that are checked here, and nowhere else. */
export const linkRules = [
  'references.flow',
  'references.child-fields',
  'graph.flow-ring',
  'limits.flow-nesting',
] as const satisfies readonly RuleId[];

export type LinkRule = (typeof linkRules)[number];

export interface FlowReference {
  readonly name: string;
  /** 0: the one that is released. */
  readonly version: number;
  /** Whether a step waits for its end. The flows that it names matter only then. */
  readonly isSubFlow: boolean;
}

export interface PublishedFlow {
  readonly flow: Flow;
  readonly version: number;
}

/** A version of a flow, or the released one for version 0; undefined when there is none. */
export type FlowLookUp = (name: string, version: number) => PublishedFlow | undefined;

export type LinkResult =
  /** With the versions of its sub-flows written out. */
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'problems'; readonly problems: readonly FlowFault[] };

/** The other flows that a flow names, each version once. */
export function flowsNamed(flow: Flow): FlowReference[] {
  const references = new Map<string, FlowReference>();
  const add = (name: string, version: number, isSubFlow: boolean): void => {
    if (name !== flow.name) references.set(`${name} ${version} ${isSubFlow}`, { name, version, isSubFlow });
  };
  for (const step of flow.steps) {
    const subFlow = subFlowOf(step);
    if (subFlow) add(subFlow.flow, subFlow.version, true);
    if (step.kind.case === 'startFlow') add(step.kind.value.flow, 0, false);
  }
  return [...references.values()];
}

/**
 * Checks a flow that `validateFlow` accepted against the flows it names, and fixes the versions of its sub-flows: the released
 * one, unless the author wrote one. A flow that is started and not waited for resolves when it starts, and only has to exist.
 * `names` are those of all flows, for suggestions. The flow that is given stays as it is. Never throws.
 */
export function linkFlow(flow: Flow, lookUp: FlowLookUp, names: Iterable<string> = []): LinkResult {
  const { faults, report } = faultCollector();
  const linked = clone(FlowSchema, flow);
  const walk: Walk = { lookUp, chains: new Map() };
  const known = [...names];
  for (const step of linked.steps) {
    const path = stepPath(step.id);
    if (step.kind.case === 'startFlow') {
      const { flow: name } = step.kind.value;
      if (name !== flow.name && !lookUp(name, 0)) {
        report('references.flow', `${path}.start_flow`, absence(name, known));
      }
    }
    const subFlow = subFlowOf(step);
    if (!subFlow) continue;
    const child = lookUp(subFlow.flow, subFlow.version);
    if (subFlow.flow === flow.name) {
      report('graph.flow-ring', `${path}.sub_flow`, ringMessage([flow.name, flow.name]));
    } else if (child) {
      subFlow.version = child.version;
      checkReceived(report, step, child.flow);
      checkBelow(report, `${path}.sub_flow`, below(walk, child, [flow.name]));
    } else {
      const released = subFlow.version === 0 ? undefined : lookUp(subFlow.flow, 0);
      if (!released) report('references.flow', `${path}.sub_flow`, absence(subFlow.flow, known));
      else {
        const message = `flow ${subFlow.flow} has no version ${subFlow.version}; ${released.version} is released`;
        report('references.flow', `${path}.version`, message);
      }
    }
  }
  return faults.length === 0 ? { kind: 'flow', flow: linked } : { kind: 'problems', problems: faults };
}

function absence(name: string, known: readonly string[]): string {
  if (known.includes(name)) return `no version of flow ${name} is released`;
  return `no flow is called ${quoted(name)}${didYouMean(name, known)}`;
}

function checkReceived(report: Report, step: Step, child: Flow): void {
  const subFlow = subFlowOf(step);
  if (!subFlow) return;
  const fields = new Set([
    ...child.steps.flatMap(writtenBy),
    ...subFlow.send,
    ...(step.kind.case === 'forEach' ? [step.kind.value.as] : []),
    ...child.fields.filter((field) => field.default !== undefined).map(({ name }) => name),
  ]);
  subFlow.receive.forEach((name, index) => {
    if (fields.has(name)) return;
    const message = `flow ${child.name} neither writes ${quoted(name)} nor is sent it${didYouMean(name, fields)}`;
    report('references.child-fields', `${stepPath(step.id)}.receive[${index}]`, message);
  });
}

interface Walk {
  readonly lookUp: FlowLookUp;
  /** What lies below a version of a flow, by name and version: each is walked once, however many flows wait for it. */
  readonly chains: Map<string, Chain>;
}

interface Chain {
  readonly kind: 'chain';
  /** The longest row of flows that wait for one another, this one first. */
  readonly deepest: readonly string[];
  /** All flows in it and below. */
  readonly within: ReadonlySet<string>;
}

type Below =
  | Chain
  /** Flows from one to itself, or one more than may be. */
  | { readonly kind: 'ring' | 'too-deep'; readonly names: readonly string[] };

/**
 * Walks down from a flow that those `above` wait for. A ring is one of names: an older version may end it now, and its
 * next one would not.
 */
function below(walk: Walk, { flow, version }: PublishedFlow, above: readonly string[]): Below {
  const key = `${flow.name} ${version}`;
  const known = walk.chains.get(key);
  if (known && !above.some((name) => known.within.has(name))) return bounded(known, above);
  const here = [...above, flow.name];
  if (here.length - 1 > flowLimits.maxSubFlowNesting) return { kind: 'too-deep', names: here };
  let deepest: readonly string[] = [];
  const within = new Set([flow.name]);
  for (const { name, version: wanted, isSubFlow } of flowsNamed(flow)) {
    if (!isSubFlow) continue;
    const first = here.indexOf(name);
    if (first >= 0) return { kind: 'ring', names: [...here.slice(first), name] };
    const child = walk.lookUp(name, wanted);
    // A published flow has its children; what is missing is found when it runs.
    if (!child) continue;
    const found = below(walk, child, here);
    if (found.kind !== 'chain') return found;
    if (found.deepest.length > deepest.length) deepest = found.deepest;
    for (const each of found.within) within.add(each);
  }
  const chain: Chain = { kind: 'chain', deepest: [flow.name, ...deepest], within };
  walk.chains.set(key, chain);
  return chain;
}

function bounded(chain: Chain, above: readonly string[]): Below {
  const names = [...above, ...chain.deepest];
  return names.length - 1 > flowLimits.maxSubFlowNesting ? { kind: 'too-deep', names } : chain;
}

function checkBelow(report: Report, path: string, found: Below): void {
  if (found.kind === 'ring') report('graph.flow-ring', path, ringMessage(found.names));
  if (found.kind !== 'too-deep') return;
  const drawn = found.names.join(' -> ');
  const message = `more than ${flowLimits.maxSubFlowNesting} sub-flows lie inside one another: ${drawn}`;
  report('limits.flow-nesting', path, message);
}

function ringMessage(names: readonly string[]): string {
  return `a flow cannot wait for itself: ${names.join(' -> ')}`;
}
