// `weir route test`: where items would go, and why. With a file of routes no engine is needed.

import { checkItem } from '../../dispatch/services/item.ts';
import { printJson } from '../../flow/expression/json-value.ts';
import { type CompiledRoutes, chooseFlow, compileRoutes, type RouteChoice } from '../../flow/routing/choose-flow.ts';
import { Routes } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { askEngine, callOptions } from '../engine.ts';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { readTextFile } from '../read-file.ts';
import { readItem } from '../submit/item-line.ts';
import { type RouteCase, readCases } from './case-file.ts';
import { readRouteFile } from './route-file.ts';

export interface TestOptions {
  /** File of an item, as a line of `weir submit`; business line and key may be left out. */
  readonly item?: string;
  /** File of items with what is expected of each. */
  readonly cases?: string;
}

/** An item of 4 MB in base64, with names and keys. */
const maxItemBytes = 8_000_000;

/** `subject` is a file of routes, or a business line, whose released routes are asked for. */
export async function testRoutes(
  subject: string,
  { item, cases }: TestOptions,
  address: string,
  printer: Printer,
): Promise<void> {
  if ((item === undefined) === (cases === undefined)) throw usageFailure('name either --item or --cases');
  const routes = await readRoutes(subject, address);
  if (item !== undefined) testItem(routes, item, printer);
  if (cases !== undefined) testCases(routes, cases, printer);
}

async function readRoutes(subject: string, address: string): Promise<CompiledRoutes> {
  if (!/^[a-z][a-z0-9_-]*$/.test(subject)) return compileRoutes(readRouteFile(subject).table);
  const { routes } = await askEngine(Routes, address, (client) => client.get({ business: subject }, callOptions));
  if (!routes?.table) throw new Error(`the engine gave the routes of ${subject} without their content`);
  return compileRoutes(routes.table);
}

function testItem(routes: CompiledRoutes, path: string, printer: Printer): void {
  const text = readTextFile('--item', path, maxItemBytes);
  let item: unknown;
  try {
    item = JSON.parse(text);
  } catch (error) {
    throw usageFailure(`--item: ${path} is not JSON`, error);
  }
  const choice = choose(routes, item, `--item: ${path}`);
  if (printer.json) printer.line(toJson(choiceObject(routes, choice)));
  else {
    printer.line(describeChoice(routes, choice));
    for (const [name, value] of choice.read) printer.line(`  ${name} = ${printJson(value) ?? 'a value'}`);
  }
  if (choice.kind === 'failed') throw new CommandFailure(exitCodes.failed, 'the item would be refused');
}

function testCases(routes: CompiledRoutes, path: string, printer: Printer): void {
  const cases = readCases(path);
  let wrong = 0;
  for (const each of cases) {
    const place = `${path}:${each.line}:${each.column}`;
    const choice = choose(routes, each.item, `--cases: ${place}`);
    const isRight = asExpected(each, choice);
    if (!isRight) wrong++;
    if (printer.json) {
      const { name, line, expected } = each;
      printer.line(toJson({ line, name, ok: isRight, expected, found: choiceObject(routes, choice) }));
    } else if (!isRight) {
      const name = each.name === '' ? '' : `${each.name}: `;
      printer.line(`${place}: ${name}expected ${describeExpected(each)}, found ${describeChoice(routes, choice)}`);
    }
  }
  if (wrong > 0) throw new CommandFailure(exitCodes.failed, `${wrong} of ${cases.length} cases came out otherwise`);
  if (!printer.json) printer.line(`cases as expected: ${cases.length}`);
}

/** The choice for an item as `item.json` has it. Throws a CommandFailure, which begins with `place`, for one that is wrong. */
function choose(routes: CompiledRoutes, item: unknown, place: string): RouteChoice {
  const { business } = routes;
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw usageFailure(`${place}: is no object`);
  // What rules don't read may be left out; a flow that is named counts for nothing here.
  const reading = readItem(JSON.stringify({ business, key: 'test', ...item, flow: undefined }));
  if (reading.kind === 'bad') throw usageFailure(`${place}: ${reading.message}`);
  if (reading.item.business !== business) {
    throw usageFailure(
      `${place}: business: found ${JSON.stringify(reading.item.business)}, the routes are of ${business}`,
    );
  }
  const checked = checkItem(reading.item);
  if (checked.kind === 'refused') throw usageFailure(`${place}: ${checked.field}: ${checked.message}`);
  return chooseFlow(routes, checked.item);
}

function asExpected({ expected }: RouteCase, choice: RouteChoice): boolean {
  if (expected.kind !== 'flow' || choice.kind !== 'flow') return expected.kind === choice.kind;
  return expected.flow === choice.flow;
}

function describeExpected({ expected }: RouteCase): string {
  return expected.kind === 'flow' ? expected.flow : expected.kind;
}

/** `mail-eu, by rules[0]: country == 'de'` */
function describeChoice(routes: CompiledRoutes, choice: RouteChoice): string {
  switch (choice.kind) {
    case 'flow': {
      if (choice.rule === undefined) return `${choice.flow}, by otherwise`;
      return `${choice.flow}, by rules[${choice.rule}]: ${routes.rules[choice.rule]?.when.source ?? ''}`;
    }
    case 'refused':
      return 'refused, by otherwise';
    case 'failed':
      return `failed, ${choice.message}`;
  }
}

function choiceObject({ business, rules }: CompiledRoutes, choice: RouteChoice) {
  const read = [...choice.read].map(([name, value]) => [name, JSON.parse(printJson(value) ?? 'null') as unknown]);
  const rule = choice.kind === 'refused' ? undefined : choice.rule;
  return {
    ...{ business, outcome: choice.kind },
    ...(choice.kind === 'flow' && { flow: choice.flow }),
    ...(rule !== undefined && { rule, when: rules[rule]?.when.source }),
    ...(choice.kind === 'failed' && { message: choice.message }),
    read: Object.fromEntries(read) as Record<string, unknown>,
  };
}
