// A process of its own that runs worlds, one after the other, as its parent asks. With the name of a mutant as its argument it
// plants that fault first.
//
// Owns the module graph of the engine: planted faults stay in this process.

import { plant } from './mutants/mutant.ts';
import { mutantNamed } from './mutants/mutants.ts';
import type { SeedReport } from './seed-report.ts';

const [mutant] = process.argv.slice(2);
if (mutant !== undefined) plant(mutantNamed(mutant));
// Loaded after planting: what is loaded before has no fault in it.
const { simulate } = await import('./run.ts');

/** Violations that are passed on: of a world that is thoroughly broken the first ones tell enough. */
const maxViolations = 20;
/** What nobody was there to catch while the present world ran: bugs, whoever made them. */
let uncaught: string[] = [];
process.on('unhandledRejection', (error) => uncaught.push(textOf(error)));
process.on('disconnect', () => process.exit());
process.on('message', (seed: number) => {
  void judge(seed).then((report) => process.send?.(report));
});
process.send?.('ready');

async function judge(seed: number): Promise<SeedReport> {
  uncaught = [];
  try {
    const { violations, counts } = await simulate(seed);
    const all = [...uncaught.map(bug), ...violations];
    return { seed, violations: all.slice(0, maxViolations), more: Math.max(0, all.length - maxViolations), counts };
  } catch (error) {
    return { seed, violations: [...uncaught, textOf(error)].slice(0, maxViolations).map(bug), more: 0 };
  }
}

function bug(message: string): SeedReport['violations'][number] {
  return { checker: 'no bugs', message };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
