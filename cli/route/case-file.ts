// What a table of routes is expected to do: items, and where each goes.
//
//     cases:
//       - { item: { fields: { country: de } }, flow: mail-eu }
//       - { name: unknown country, item: { fields: { country: xx } }, outcome: refused }

import { locate } from '../../flow/definition/places.ts';
import { type FlowFault, faultCollector, type Position } from '../../flow/definition/problem.ts';
import { plainJson, readItems, readMembers, readText, readWord } from '../../flow/definition/reader.ts';
import { readSource } from '../../flow/definition/source.ts';
import { usageFailure } from '../failure.ts';
import { printProblem } from '../flow-file.ts';
import { readTextFile } from '../read-file.ts';

export interface RouteCase extends Position {
  /** Empty when it has none. */
  readonly name: string;
  /** As in `item.json`. */
  readonly item: unknown;
  readonly expected: { readonly kind: 'flow'; readonly flow: string } | { readonly kind: 'refused' | 'failed' };
}

const maxCasesBytes = 480_000;
const outcomes = new Map([
  ['refused', 'refused'],
  ['failed', 'failed'],
] as const);

/** Throws a CommandFailure with every problem. */
export function readCases(path: string): readonly RouteCase[] {
  const source = readSource(readTextFile('--cases', path, maxCasesBytes), 'a list of cases');
  if (source.kind === 'problems') throw refused(path, source.problems);
  const { faults, report } = faultCollector();
  const members = readMembers(report, { node: source.root, path: '' }, ['cases'], 'a file of cases');
  if (source.root.kind === 'map' && !members.cases)
    report('shape.required', '', "a file of cases needs the key 'cases'");
  const cases = readItems(report, members.cases, 'cases').map((located): RouteCase => {
    const { line, column } = located.node;
    const { name, item, flow, outcome } = readMembers(report, located, ['name', 'item', 'flow', 'outcome'], 'a case');
    if (!item) report('shape.required', located.path, "a case needs the key 'item'");
    if (!flow === !outcome) report('shape.kind', located.path, 'a case has either flow or outcome');
    const kind = outcome && readWord(report, outcome, outcomes, 'an outcome');
    return {
      ...{ line, column },
      name: (name && readText(report, name, 'a name')) ?? '',
      item: item && plainJson(item.node),
      expected: kind ? { kind } : { kind: 'flow', flow: (flow && readText(report, flow, 'a flow')) ?? '' },
    };
  });
  const problems = [...source.problems, ...locate<FlowFault>(source.root, faults)];
  if (problems.length > 0) throw refused(path, problems);
  if (cases.length === 0) throw usageFailure(`--cases: ${path} has no cases`);
  return cases;
}

function refused(path: string, problems: ReadonlyArray<Position & { path: string; message: string }>) {
  const printed = problems.map((problem) => printProblem({ file: path, ...problem }));
  return usageFailure(`--cases: nothing was tested\n${printed.join('\n')}`);
}
