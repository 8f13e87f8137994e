// Flows as text: YAML, of which JSON is a part. Text → tree (source.ts) → message (read-flow.ts) → rules (validate.ts).

import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowLimits } from './limits.ts';
import { locate, pathsAbove } from './places.ts';
import { type FlowFault, type FlowProblem, faultCollector } from './problem.ts';
import { readFlow } from './read-flow.ts';
import { readSource } from './source.ts';
import { validateFlow } from './validate.ts';

export type { FlowProblem } from './problem.ts';

export type FlowResult =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'problems'; readonly problems: readonly FlowProblem[] };

/**
 * Reads a flow from its text and checks it. Either the flow, with every default written out, or all that is wrong with it in
 * the order of the text, up to `flowLimits.maxProblems`. Never throws, whatever the text is.
 */
export function parseFlow(text: string): FlowResult {
  const source = readSource(text);
  if (source.kind === 'problems') return source;
  const { faults, report } = faultCollector();
  const flow = readFlow(report, source.root);
  // Below a value that could not be read, everything would be wrong.
  const unread = pathSet(source.problems);
  const shapes = faults.filter(({ path }) => !isWithin(path, unread));
  const unusable = pathSet([...source.problems, ...faults]);
  const senses = validateFlow(flow).filter(({ path }) => !isWithin(path, unusable));
  const located = [...source.problems, ...locate(source.root, [...shapes, ...senses])];
  if (located.length === 0) return { kind: 'flow', flow };
  const problems = located
    .toSorted((one, other) => one.line - other.line || one.column - other.column)
    .slice(0, flowLimits.maxProblems);
  return { kind: 'problems', problems };
}

/** Gives what `linkFlow` found its places in the text that the flow was read from. */
export function locateFaults(text: string, faults: readonly FlowFault[]): FlowProblem[] {
  const source = readSource(text);
  const root = source.kind === 'source' ? source.root : undefined;
  return root ? locate(root, faults) : faults.map((fault) => ({ ...fault, line: 1, column: 1 }));
}

function pathSet(faults: readonly FlowFault[]): ReadonlySet<string> {
  return new Set(faults.map(({ path }) => path));
}

function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  return pathsAbove(path).some((above) => paths.has(above));
}
