// `weir flow diff`

import { type Difference, differences } from '../../flow/difference.ts';
import { type Flow, FlowSchema } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { Flows } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { flowOfFile } from './flow-argument.ts';

/** One of the two that are compared. */
interface Side {
  readonly flow: Flow;
  /** For people. */
  readonly name: string;
}

/** Characters of a value in a line for people. */
const maxShownCharacters = 160;

/**
 * Compares two sides, each a file, `name` for the released version of a flow, or `name@version`. With one side it is compared
 * with the released version of its flow. Ends with 1 when they differ.
 */
export async function diffFlows(
  one: string,
  other: string | undefined,
  address: string,
  printer: Printer,
): Promise<void> {
  const first = await readSide(one, address);
  const second = other === undefined ? undefined : await readSide(other, address);
  const from = second ? first : await readVersion(first.flow.name, 0, address);
  const to = second ?? first;
  const found = differences(FlowSchema, from.flow, to.flow);
  for (const difference of found) printer.line(printer.json ? toJson(difference) : printed(difference));
  if (found.length > 0) {
    throw new CommandFailure(exitCodes.different, `${from.name} and ${to.name} differ, differences: ${found.length}`);
  }
  if (!printer.json) printer.line(`${from.name} and ${to.name} mean the same`);
}

async function readSide(argument: string, address: string): Promise<Side> {
  const [, name, version] = /^([a-z][a-z0-9_-]*)(?:@([1-9][0-9]{0,4}))?$/.exec(argument) ?? [];
  if (name === undefined) return { flow: flowOfFile(argument), name: argument };
  return readVersion(name, Number(version ?? 0), address);
}

/** Version 0 is the released one. */
async function readVersion(name: string, version: number, address: string): Promise<Side> {
  const { flow } = await askEngine(Flows, address, (flows) => flows.get({ name, version }, callOptions));
  if (!flow?.flow) throw new Error(`the engine gave flow ${name} without its content`);
  return { flow: flow.flow, name: `${name} version ${flow.version}` };
}

function printed({ path, from, to }: Difference): string {
  if (from === undefined) return `+ ${path}: ${cut(to ?? '')}`;
  if (to === undefined) return `- ${path}: ${cut(from)}`;
  return `~ ${path}: ${cut(from)} → ${cut(to)}`;
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > maxShownCharacters ? `${line.slice(0, maxShownCharacters)}…` : line;
}
