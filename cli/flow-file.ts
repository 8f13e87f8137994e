// Flows in files.

import { parseFlow } from '../flow/definition/definition.ts';
import { flowLimits } from '../flow/definition/limits.ts';
import type { Flow } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { readTextFile } from './read-file.ts';

export interface FlowFile {
  readonly path: string;
  /** As its author wrote it. */
  readonly text: string;
  readonly flow: Flow;
}

/** Where a problem is, in a form that editors jump to, and what it is. */
export interface FileProblem {
  readonly file: string;
  /** From 1; 0 when unknown. */
  readonly line: number;
  readonly column: number;
  /** In the flow: `steps.verdict.switch[0].when`; empty for the whole of it. */
  readonly path: string;
  /** What was found and what is allowed. */
  readonly message: string;
}

export type FlowReading =
  | { readonly kind: 'flow'; readonly file: FlowFile }
  | { readonly kind: 'problems'; readonly problems: readonly FileProblem[] };

/** Reads and checks a flow. `flag` is what named the file. Throws a CommandFailure when the file can't be read. */
export function readFlowFile(flag: string, path: string): FlowReading {
  const text = readTextFile(flag, path, flowLimits.maxFlowBytes);
  const parsed = parseFlow(text);
  if (parsed.kind === 'flow') return { kind: 'flow', file: { path, text, flow: parsed.flow } };
  const problems = parsed.problems.map(({ line, column, path: place, message }) => {
    return { file: path, line, column, path: place, message };
  });
  return { kind: 'problems', problems };
}

/** `file:line:column: path: message` */
export function printProblem({ file, line, column, path, message }: FileProblem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
