// Flows as text: YAML, of which JSON is a part. Text → tree (source.ts) → message (read-flow.ts) → rules (validate.ts).

import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowLimits } from './limits.ts';
import { childPath, type FlowFault, type FlowProblem, faultCollector, type Position } from './problem.ts';
import { readFlow } from './read-flow.ts';
import { readSource, type SourceNode } from './source.ts';
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

function pathSet(faults: readonly FlowFault[]): ReadonlySet<string> {
  return new Set(faults.map(({ path }) => path));
}

function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  return pathsAbove(path).some((above) => paths.has(above));
}

/** Gives faults their places: of the value at their path, or of the nearest one around it that the text has. */
function locate(root: SourceNode, faults: readonly FlowFault[]): FlowProblem[] {
  if (faults.length === 0) return [];
  const positions = new Map<string, Position>();
  collectPositions(positions, root, '', root);
  return faults.map((fault) => {
    const path = pathsAbove(fault.path).find((above) => positions.has(above));
    const { line, column } = positions.get(path ?? '') ?? root;
    return { ...fault, line, column };
  });
}

function collectPositions(positions: Map<string, Position>, node: SourceNode, path: string, position: Position): void {
  positions.set(path, position);
  if (node.kind === 'map') {
    for (const [key, entry] of node.entries) {
      collectPositions(positions, entry.value, childPath(path, key), entry.position);
    }
  } else if (node.kind === 'list') {
    node.items.forEach((item, index) => collectPositions(positions, item, `${path}[${index}]`, item));
  }
}

/** A path and all that it lies in, the path itself first, the whole flow last. */
function pathsAbove(path: string): string[] {
  const paths = [path];
  for (let end = path.length - 1; end > 0; end--) {
    if (path[end] === '.' || path[end] === '[') paths.push(path.slice(0, end));
  }
  paths.push('');
  return paths;
}
