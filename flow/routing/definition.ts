// Routes as text: YAML, of which JSON is a part. Text → tree → message (read-table.ts) → rules (validate-table.ts).

import type { RouteTable } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { flowLimits } from '../definition/limits.ts';
import { locate, pathsAbove } from '../definition/places.ts';
import type { Position } from '../definition/problem.ts';
import { readSource } from '../definition/source.ts';
import { readTable } from './read-table.ts';
import type { RouteRuleId } from './rules.ts';
import { type KnownFlows, type RouteReport, validateTable } from './validate-table.ts';

export interface RouteProblem extends Position {
  readonly rule: RouteRuleId;
  /** As in `rules[0].when`; empty for the whole table. */
  readonly path: string;
  /** What was found and what is allowed. */
  readonly message: string;
}

export type RoutesResult =
  | { readonly kind: 'routes'; readonly table: RouteTable }
  | { readonly kind: 'problems'; readonly problems: readonly RouteProblem[] };

type Fault = Omit<RouteProblem, keyof Position>;

/**
 * Reads a table of routes from its text and checks it: either the table, or all that is wrong with it in the order of the text,
 * up to `flowLimits.maxProblems`. Without `flows` nobody asks whether the flows exist. Never throws, whatever the text is.
 */
export function parseRoutes(text: string, flows?: KnownFlows): RoutesResult {
  const source = readSource(text, 'a table of routes');
  if (source.kind === 'problems') return source;
  const shapes = collector();
  const table = readTable(shapes.report, source.root);
  const senses = collector();
  validateTable(senses.report, table, flows);
  // Below a value that could not be read, everything would be wrong.
  const shaped = shapes.faults.filter(outside(source.problems));
  const faults = [...shaped, ...senses.faults.filter(outside([...source.problems, ...shapes.faults]))];
  const located: RouteProblem[] = [...source.problems, ...locate(source.root, faults)];
  if (located.length === 0) return { kind: 'routes', table };
  const problems = located
    .toSorted((one, other) => one.line - other.line || one.column - other.column)
    .slice(0, flowLimits.maxProblems);
  return { kind: 'problems', problems };
}

function outside(unread: ReadonlyArray<{ readonly path: string }>): (fault: Fault) => boolean {
  const paths = new Set(unread.map(({ path }) => path));
  return ({ path }) => !pathsAbove(path).some((above) => paths.has(above));
}

function collector(): { readonly faults: Fault[]; readonly report: RouteReport } {
  const faults: Fault[] = [];
  const report: RouteReport = (rule, path, message) => {
    if (faults.length < flowLimits.maxProblems) faults.push({ rule, path, message });
  };
  return { faults, report };
}
