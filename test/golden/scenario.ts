// Golden scenarios: a flow, and commands with what followed from each, in one text file.
//
//   # What the scenario shows.
//   flow: …                    the flow as its author writes it
//   ---
//   > submit text=hello        a command …
//   run: new → OPEN            … and what the core decided
//
// `npm run golden` writes what follows each command anew; the change is then reviewed as a diff.

import { compileFlow } from '../../flow/compile.ts';
import { parseFlow } from '../../flow/definition/definition.ts';
import { describeDecision } from './description.ts';
import { GoldenRun } from './golden-run.ts';

/** The scenario with what follows each command as the core decides it today. */
export function play(text: string): string {
  const separator = text.indexOf('\n---\n');
  if (separator < 0) throw new Error('a scenario has a flow, a line `---` and commands');
  const head = text.slice(0, separator);
  const parsed = parseFlow(head);
  if (parsed.kind === 'problems') {
    throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  }
  const run = new GoldenRun(compileFlow(parsed.flow, 1));
  const blocks: string[] = [];
  for (const line of text.slice(separator).split('\n')) {
    if (!line.startsWith('> ')) continue;
    const decided = run.perform(line.slice(2));
    blocks.push([line, ...describeDecision(decided)].join('\n'));
  }
  return `${head}\n---\n${blocks.join('\n\n')}\n`;
}
