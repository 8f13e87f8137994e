// npm run sim -- --seeds 100 [--from N]     runs many worlds and sums up
// npm run sim -- --seed 7 --trace           shows the history of one
// npm run sim -- --mutants [--seeds 20]     plants each fault of mutants.ts and counts the seeds that catch it

import { parseArgs } from 'node:util';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { mutants } from './mutants.ts';
import { type Simulation, simulate } from './run.ts';
import { Totals } from './totals.ts';
import { traceLine } from './world/trace.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
  },
});

process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  const first = wholeNumber('from', values.from);
  const seeds = Array.from({ length: wholeNumber('seeds', values.seeds) }, (_, index) => first + index);
  if (values.mutants) return runMutants(seeds);
  if (values.seed === undefined) return runMany(seeds);
  const simulation = await simulate(wholeNumber('seed', values.seed));
  if (values.trace) for (const record of simulation.history) console.log(traceLine(record));
  return report(simulation);
}

async function runMany(seeds: readonly number[]): Promise<boolean> {
  const totals = new Totals();
  const failed: Simulation[] = [];
  const beganMs = performance.now();
  for (const seed of seeds) {
    const simulation = await simulate(seed);
    totals.add(simulation.counts);
    if (!report(simulation)) failed.push(simulation);
  }
  const seconds = (performance.now() - beganMs) / 1_000;
  console.log(totals.lines().join('\n'));
  console.log(
    `${seeds.length} histories in ${seconds.toFixed(1)} s, ${seeds.length - failed.length} clean, ${failed.length} not`,
  );
  for (const { seed } of failed) console.log(`replay: npm run sim -- --seed ${seed} --trace`);
  return failed.length === 0;
}

async function runMutants(seeds: readonly number[]): Promise<boolean> {
  let survivors = 0;
  for (const [name, mutant] of Object.entries(mutants)) {
    const caught = new Map<string, number>();
    let count = 0;
    for (const seed of seeds) {
      const { violations } = await simulate(seed, mutant);
      if (violations.length > 0) count++;
      for (const checker of new Set(violations.map((violation) => violation.checker))) {
        caught.set(checker, (caught.get(checker) ?? 0) + 1);
      }
    }
    if (count === 0) survivors++;
    const by = [...caught].map(([checker, times]) => `${checker} ${times}`).join(', ');
    console.log(`${count === 0 ? 'SURVIVED' : 'caught  '} ${count} of ${seeds.length}: ${name} (${by})`);
  }
  return survivors === 0;
}

/** Says what is wrong with a history. Answers whether nothing is. */
function report({ seed, violations, counts }: Simulation): boolean {
  if (values.seed !== undefined) {
    const states = [...counts.runsByState].map(([state, runs]) => `${runs} ${State[state]}`).join(', ');
    console.log(`seed ${seed}: ${counts.runs} runs (${states}), at rest ${counts.restMs / 1_000} s after healing`);
  }
  for (const { checker, message } of violations.slice(0, 20)) console.log(`seed ${seed}: ${checker}: ${message}`);
  if (violations.length > 20) console.log(`seed ${seed}: and ${violations.length - 20} more`);
  return violations.length === 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0)
    throw new Error(`--${name} takes a whole number, found ${JSON.stringify(text)}`);
  return number;
}
