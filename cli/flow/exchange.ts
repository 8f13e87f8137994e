// `weir flow import` and `weir flow export`: definitions of other systems.

import { flowLimits } from '../../flow/definition/limits.ts';
import { locate } from '../../flow/definition/places.ts';
import { printFlow } from '../../flow/definition/print-flow.ts';
import { readSource } from '../../flow/definition/source.ts';
import { type ImportOptions, readPipeline } from '../../flow/import/read-pipeline.ts';
import { writePipeline } from '../../flow/import/write-pipeline.ts';
import { usageFailure } from '../failure.ts';
import { printProblem } from '../flow-file.ts';
import type { Printer } from '../output/printer.ts';
import { readTextFile } from '../read-file.ts';
import { readFlowArgument } from './flow-argument.ts';

export function importFlow(path: string, options: ImportOptions, printer: Printer): void {
  const reading = readPipeline(readTextFile('', path, flowLimits.maxFlowBytes), options);
  if (reading.kind === 'flow') return printer.line(printFlow(reading.flow).trimEnd());
  const problems = reading.problems.map((problem) => printProblem({ file: path, ...problem }));
  throw usageFailure(`nothing was imported\n${problems.join('\n')}`);
}

export function exportFlow(path: string, printer: Printer): void {
  const { text, flow } = readFlowArgument(path);
  const writing = writePipeline(flow);
  if (writing.kind === 'pipeline') return printer.line(JSON.stringify(writing.file, undefined, 2));
  const source = readSource(text);
  if (source.kind === 'problems') throw new Error(`invariant: ${path} was read before`);
  const faults = locate(source.root, writing.faults).toSorted(
    (one, other) => one.line - other.line || one.column - other.column,
  );
  throw usageFailure(
    `nothing was exported\n${faults.map((fault) => printProblem({ file: path, ...fault })).join('\n')}`,
  );
}
