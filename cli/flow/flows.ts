// The commands of `weir flow`.

import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
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

export async function pushFlow(
  path: string,
  { release = false, expect }: { readonly release?: boolean; readonly expect?: number },
  address: string,
  printer: Printer,
): Promise<void> {
  const reading = readFlowFile('', path);
  if (reading.kind === 'problems') throw invalid(reading.problems);
  const { text, flow } = reading.file;
  const pushed = await askEngine(Flows, address, (flows) =>
    flows.push({ text, release, ...(expect === undefined ? {} : { expectedVersion: expect }) }, callOptions),
  );
  // An engine of another version may hold flows to other rules.
  if (pushed.problems.length > 0) throw invalid(pushed.problems.map((problem) => ({ file: path, ...problem })));
  const { version, created } = pushed;
  if (printer.json) return printer.line(toJson({ name: flow.name, version, created, released: release }));
  const how = created ? 'stored' : 'there already';
  printer.line(`${flow.name} version ${version}: ${how}${release ? ', released' : ''}`);
}

export async function releaseFlow(name: string, version: number, address: string, printer: Printer): Promise<void> {
  const { previousVersion } = await askEngine(Flows, address, (flows) => flows.release({ name, version }, callOptions));
  if (printer.json) return printer.line(toJson({ name, version, previousVersion }));
  const before = previousVersion === 0 ? 'none before' : `version ${previousVersion} before`;
  printer.line(`${name} version ${version}: released, ${before}`);
}

export async function listFlows(address: string, printer: Printer): Promise<void> {
  const { flows } = await askEngine(Flows, address, (client) => client.list({}, callOptions));
  if (printer.json) {
    for (const { name, business, newestVersion, releasedVersion } of flows) {
      printer.line(toJson({ name, business, newestVersion, releasedVersion }));
    }
    return;
  }
  const rows = flows.map(({ name, business, newestVersion, releasedVersion }) => {
    return [name, business, newestVersion, releasedVersion === 0 ? 'none' : String(releasedVersion)];
  });
  printer.line(table(['FLOW', 'BUSINESS', 'NEWEST', 'RELEASED'], rows));
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
  printer.line(toJson({ name, business, version: flow?.version, hash, pushedAt: printedTime(flow?.pushedAt), text }));
}

function invalid(problems: readonly FileProblem[]): CommandFailure {
  return new CommandFailure(exitCodes.usage, `nothing was stored\n${problems.map(printProblem).join('\n')}`);
}
