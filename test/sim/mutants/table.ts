// Plants each fault and counts the seeds that catch it.

import { runSeeds } from '../crew.ts';
import { inOrder } from '../in-order.ts';
import type { Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';

export interface TableOptions {
  /** Mutants at once: each has a process of its own. */
  readonly workers: number;
  /** Part of the names of those that are meant; empty: all. */
  readonly only: string;
  /** Leave off at the first seed that catches a mutant, instead of counting all that do. */
  readonly untilCaught: boolean;
}

export interface Verdict {
  readonly mutant: Mutant;
  /** Seeds that were run, and those that caught it. */
  readonly seeds: number;
  readonly caught: number;
  /** Seeds by the checker that caught it there. */
  readonly by: ReadonlyMap<string, number>;
}

/** Prints one line for each mutant and `N passed, N failed` at the end. Answers whether all were caught. */
export async function tellMutants(seeds: readonly number[], options: TableOptions): Promise<boolean> {
  const meant = mutants.filter(({ name }) => name.includes(options.only));
  let survivors = 0;
  for await (const verdict of judgeMutants(meant, seeds, options)) {
    if (verdict.caught === 0) survivors++;
    console.log(lineOf(verdict));
  }
  console.log(`${meant.length - survivors} passed, ${survivors} failed`);
  return survivors === 0 && meant.length > 0;
}

/** One verdict for each mutant, in their order. */
export function judgeMutants(
  meant: readonly Mutant[],
  seeds: readonly number[],
  { workers, untilCaught }: Omit<TableOptions, 'only'>,
): AsyncGenerator<Verdict> {
  return inOrder(meant, workers, (mutant) => judge(mutant, seeds, untilCaught));
}

async function judge(mutant: Mutant, seeds: readonly number[], untilCaught: boolean): Promise<Verdict> {
  const by = new Map<string, number>();
  let [run, caught] = [0, 0];
  for await (const { violations } of runSeeds(seeds, { workers: 1, mutant: mutant.name })) {
    run++;
    if (violations.length > 0) caught++;
    for (const checker of new Set(violations.map((violation) => violation.checker)))
      by.set(checker, (by.get(checker) ?? 0) + 1);
    if (untilCaught && caught > 0) break;
  }
  return { mutant, seeds: run, caught, by };
}

function lineOf({ mutant, seeds, caught, by }: Verdict): string {
  const most = [...by].sort(([, one], [, other]) => other - one).map(([checker, times]) => `${checker} ${times}`);
  const verdict = caught === 0 ? 'SURVIVED' : 'caught';
  return `${verdict.padEnd(8)} ${String(caught).padStart(3)} of ${seeds}  ${mutant.name}  (${most.join(', ')})`;
}
