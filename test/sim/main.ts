// npm run sim -- --seeds 1000 [--from N | --from random]            runs so many worlds, and the kept seeds, and sums up
// npm run sim -- --seed 7 [--trace]                                 runs one, and shows its history
// npm run sim -- --mutants [--seeds 40] [--only NAME] [--until-caught]   plants each fault of mutants/ and counts the seeds that catch it
//
// `--workers N`: processes at once [2]: what the machines that check every change have.

import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { runSeeds } from './crew.ts';
import { keptSeeds } from './kept-seeds.ts';
import { tellMutants } from './mutants/table.ts';
import { simulate } from './run.ts';
import type { SeedReport } from './seed-report.ts';
import { Totals } from './totals.ts';
import { traceLine } from './world/trace.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'until-caught': { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});

process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  if (values.seed !== undefined) return runOne(wholeNumber('seed', values.seed));
  // A seed is 32 bits; the last ones are left out so that the numbers after the first one are seeds too.
  const first = values.from === 'random' ? randomInt(1, 2 ** 31) : wholeNumber('from', values.from);
  const seeds = Array.from({ length: wholeNumber('seeds', values.seeds) }, (_, index) => first + index);
  const workers = wholeNumber('workers', values.workers);
  const kept = keptSeeds().map(({ seed }) => seed);
  if (values.mutants) {
    // Some are caught in few worlds: the kept ones come after the others.
    return tellMutants([...seeds, ...kept], { workers, only: values.only, untilCaught: values['until-caught'] });
  }
  return runMany(seeds, kept, workers);
}

async function runOne(seed: number): Promise<boolean> {
  const { history, violations, counts } = await simulate(seed);
  if (values.trace) for (const record of history) console.log(traceLine(record));
  const states = [...counts.runsByState].map(([state, runs]) => `${runs} ${State[state]}`).join(', ');
  console.log(`seed ${seed}: ${counts.runs} runs (${states}), at rest ${counts.restMs / 1_000} s after healing`);
  return tell({ seed, violations, more: 0, counts });
}

async function runMany(fresh: readonly number[], kept: readonly number[], workers: number): Promise<boolean> {
  const totals = new Totals();
  const failed: number[] = [];
  const beganMs = performance.now();
  console.log(`${fresh.length} seeds from ${fresh[0] ?? 'none'}, and ${kept.length} kept ones`);
  let reported = 0;
  for await (const report of runSeeds([...kept, ...fresh], { workers })) {
    // The kept ones are there for what they once broke; what is summed up is fresh.
    if (report.counts && reported++ >= kept.length) totals.add(report.seed, report.counts);
    if (!tell(report)) failed.push(report.seed);
  }
  const missing = totals.missing();
  console.log([...totals.lines(), ...missing].join('\n'));
  console.log(`took ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`);
  for (const seed of failed) console.log(`replay: npm run sim -- --seed ${seed} --trace`);
  const all = kept.length + fresh.length;
  console.log(`${all - failed.length} passed, ${failed.length + missing.length} failed`);
  return failed.length + missing.length === 0;
}

/** Says what is wrong with a history. Answers whether nothing is. */
function tell({ seed, violations, more }: SeedReport): boolean {
  for (const { checker, message } of violations) console.log(`seed ${seed}: ${checker}: ${message}`);
  if (more > 0) console.log(`seed ${seed}: and ${more} more`);
  return violations.length === 0;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0)
    throw new Error(`--${name} takes a whole number, found ${JSON.stringify(text)}`);
  return number;
}
