// Golden scenarios: a flow, and commands with what followed from each, in one text file.
//
//   # What the scenario shows.
//   flow: …                    the flow as its author writes it
//   --- version 2              another version of it, where the scenario moves to one
//   flow: …
//   ---
//   > submit text=hello        a command …
//   run: new → OPEN            … and what the core decided
//
// A flow that is refused has no commands; what follows the line is why.
//
// `npm run golden` writes what follows each command anew; the change is then reviewed as a diff.

import { compileFlow } from '../../flow/compile.ts';
import { parseFlow } from '../../flow/definition/definition.ts';
import type { Plan } from '../../flow/plan.ts';
import { describeDecision } from '../../flow/simulation/trace.ts';
import { GoldenRun } from './golden-run.ts';

const separator = '\n---\n';

/** The scenario with what follows each command as the core decides it today. */
export function play(text: string): string {
  const at = text.indexOf(separator);
  if (at < 0) throw new Error('a scenario has a flow, a line `---` and commands');
  const head = text.slice(0, at);
  const refusal = refusalOf(head);
  if (refusal.length > 0) return `${head}${separator}${refusal.join('\n')}\n`;
  const run = new GoldenRun(versionsOf(head));
  const blocks: string[] = [];
  for (const line of text.slice(at).split('\n')) {
    if (!line.startsWith('> ')) continue;
    const decided = run.perform(line.slice(2));
    blocks.push([line, ...describeDecision(decided)].join('\n'));
  }
  return `${head}${separator}${blocks.join('\n\n')}\n`;
}

/** What is wrong with the flow; scenarios of several versions have none that is refused. */
function refusalOf(text: string): string[] {
  const parsed = /\n--- version/.test(text) ? undefined : parseFlow(text);
  if (parsed?.kind !== 'problems') return [];
  return parsed.problems.map(
    ({ line, rule, path, message }) => `refused in line ${line}, ${rule}: ${path}: ${message}`,
  );
}

/** Plans by version. One that the scenario doesn't write is the one before it, published again. */
function versionsOf(head: string): (version: number) => Plan {
  const [first = '', ...others] = head.split(/\n--- version (\d+)\n/);
  const texts = new Map([[1, first]]);
  for (let index = 0; index < others.length; index += 2) texts.set(Number(others[index]), others[index + 1] ?? '');
  return (version) => {
    const written = Math.max(...[...texts.keys()].filter((each) => each <= version));
    return planOf(texts.get(written) ?? '', version);
  };
}

function planOf(text: string, version: number): Plan {
  const parsed = parseFlow(text);
  if (parsed.kind === 'flow') return compileFlow(parsed.flow, version);
  throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
}
