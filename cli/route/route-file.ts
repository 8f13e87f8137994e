// Routes in files.

import { flowLimits } from '../../flow/definition/limits.ts';
import { parseRoutes } from '../../flow/routing/definition.ts';
import type { RouteTable } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { usageFailure } from '../failure.ts';
import { printProblem } from '../flow-file.ts';
import { readTextFile } from '../read-file.ts';

export interface RouteFile {
  readonly text: string;
  readonly table: RouteTable;
}

/** Reads and checks a table of routes, but for the flows that it leads to. Throws a CommandFailure with every problem. */
export function readRouteFile(path: string): RouteFile {
  const text = readTextFile('', path, flowLimits.maxFlowBytes);
  const parsed = parseRoutes(text);
  if (parsed.kind === 'routes') return { text, table: parsed.table };
  const problems = parsed.problems.map((problem) => printProblem({ file: path, ...problem }));
  throw usageFailure(`not valid routes\n${problems.join('\n')}`);
}
