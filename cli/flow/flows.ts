// The commands of `weir flow`.

import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { authorOf } from '../author.ts';
import { askEngine, callOptions } from '../engine.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { type FileProblem, printProblem, readFlowFile } from '../flow-file.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { table } from '../output/table.ts';
import { printedTime } from '../output/text.ts';

/** Checks files without an engine. With JSON the problems are the result, one a line. */
export function validateFlows(files: readonly string[], printer: Printer): void {
  let problems = 0;
  for (const file of files) {
    const reading = readFlowFile('', file);
    if (reading.kind === 'flow') {
      const { name, steps } = reading.file.flow;
      if (!printer.json) printer.line(`${file}: ${name} is valid, ${steps.length} steps`);
      continue;
    }
    problems += reading.problems.length;
    for (const problem of reading.problems) printer.line(printer.json ? toJson(problem) : printProblem(problem));
  }
  if (problems > 0) throw new CommandFailure(exitCodes.usage, `problems found: ${problems}`);
}

export interface PushOptions {
  /** To all items, at once. */
  readonly release?: boolean;
  /** The newest version that was seen. */
  readonly expect?: number;
  readonly author?: string;
  readonly comment: string;
}

export async function pushFlow(
  path: string,
  { release = false, expect, author, comment }: PushOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  const reading = readFlowFile('', path);
  if (reading.kind === 'problems') throw invalid(reading.problems);
  const { text, flow } = reading.file;
  const expected = expect === undefined ? {} : { expectedVersion: expect };
  const pushed = await askEngine(Flows, address, (flows) =>
    flows.push({ text, release, author: authorOf(author), comment, ...expected }, callOptions),
  );
  // An engine of another version may hold flows to other rules.
  if (pushed.problems.length > 0) throw invalid(pushed.problems.map((problem) => ({ file: path, ...problem })));
  const { version, created } = pushed;
  if (printer.json) return printer.line(toJson({ name: flow.name, version, created, released: release }));
  const how = created ? 'stored' : 'there already';
  printer.line(`${flow.name} version ${version}: ${how}${release ? ', released' : ''}`);
}

export async function listFlows(address: string, printer: Printer): Promise<void> {
  const { flows } = await askEngine(Flows, address, (client) => client.list({}, callOptions));
  if (printer.json) {
    for (const { name, business, newestVersion, releasedVersion, grayVersion, releaseNumber } of flows) {
      printer.line(toJson({ name, business, newestVersion, releasedVersion, grayVersion, releaseNumber }));
    }
    return;
  }
  const versionOrNone = (version: number): string => (version === 0 ? 'none' : String(version));
  const rows = flows.map(({ name, business, newestVersion, releasedVersion, grayVersion, releaseNumber }) => {
    return [name, business, newestVersion, versionOrNone(releasedVersion), versionOrNone(grayVersion), releaseNumber];
  });
  printer.line(table(['FLOW', 'BUSINESS', 'NEWEST', 'RELEASED', 'GRAY', 'RELEASE'], rows));
}

/** Prints the text as it was pushed, so that it can be written back into a file. */
export async function showFlow(
  name: string,
  version: number | undefined,
  address: string,
  printer: Printer,
): Promise<void> {
  const { flow } = await askEngine(Flows, address, (flows) => flows.get({ name, version: version ?? 0 }, callOptions));
  const text = flow?.text ?? '';
  if (!printer.json) return printer.line(text.endsWith('\n') ? text.slice(0, -1) : text);
  const hash = Buffer.from(flow?.hash ?? []).toString('hex');
  const { business } = flow?.flow ?? {};
  const { author, comment } = flow ?? {};
  const pushedAt = printedTime(flow?.pushedAt);
  printer.line(toJson({ name, business, version: flow?.version, hash, pushedAt, author, comment, text }));
}

function invalid(problems: readonly FileProblem[]): CommandFailure {
  return new CommandFailure(exitCodes.usage, `nothing was stored\n${problems.map(printProblem).join('\n')}`);
}
