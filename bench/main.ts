// npm run bench -- w1|l|decide|scan|cluster [--items N] [--seconds N] [--finished N] [--repeat N] [--json]
//
// Prints each figure as min / median / max over the repetitions, the floor measured in the same run beside it.

import { parseArgs } from 'node:util';
import { clusterCost } from './cluster.ts';
import { decideCost } from './decide.ts';
import { scanCost } from './hbase-scan.ts';
import { type Spread, spread } from './statistics.ts';
import { latency, w1 } from './workloads.ts';

const payloadBytes = 200;
const usage = `usage: npm run bench -- w1 [--items 20000] [--repeat 3] [--json]
       npm run bench -- l  [--seconds 10] [--repeat 3] [--json]
       npm run bench -- decide [--repeat 3] [--json]
       npm run bench -- scan [--finished 100000] [--repeat 3] [--json]
       npm run bench -- cluster [--items 20000] [--repeat 3] [--json]`;

const workloads: Record<string, (options: Options) => Promise<Record<string, number>>> = {
  w1: async ({ items }) => ({ ...(await w1(items, payloadBytes)) }),
  l: async ({ seconds }) => ({ ...(await latency(seconds, payloadBytes)) }),
  decide: async () => decideCost(),
  cluster: ({ items }) => clusterCost(items, payloadBytes),
  scan: async ({ finished }) => ({ ...(await scanCost(finished)) }),
};

interface Options {
  readonly items: number;
  readonly seconds: number;
  readonly finished: number;
  readonly repeat: number;
  readonly json: boolean;
}

async function main(): Promise<void> {
  const { names, options } = read(process.argv.slice(2));
  const report: Record<string, Record<string, Spread>> = {};
  for (const name of names) {
    const measured: Array<Record<string, number>> = [];
    for (let repetition = 1; repetition <= options.repeat; repetition++) {
      process.stderr.write(`${name}: ${repetition} of ${options.repeat}\n`);
      const result = await workloads[name]?.(options);
      if (result) measured.push(result);
    }
    report[name] = spreads(measured);
    print(name, report[name]);
  }
  if (options.json) console.log(JSON.stringify(report));
}

function read(args: string[]): { names: string[]; options: Options } {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        items: { type: 'string', default: '20000' },
        seconds: { type: 'string', default: '10' },
        finished: { type: 'string', default: '100000' },
        repeat: { type: 'string', default: '3' },
        json: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.find((name) => !(name in workloads));
    if (unknown !== undefined)
      throw new Error(`no workload is named ${unknown}: there are ${Object.keys(workloads).join(', ')}`);
    if (positionals.length === 0) throw new Error(`name a workload: ${Object.keys(workloads).join(', ')}`);
    const { items, seconds, finished, repeat, json } = values;
    return {
      names: positionals,
      options: {
        items: whole('items', items),
        seconds: whole('seconds', seconds),
        finished: whole('finished', finished),
        repeat: whole('repeat', repeat),
        json,
      },
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name}: found ${text}, a whole number from 1 is needed`);
}

function spreads(measured: ReadonlyArray<Record<string, number>>): Record<string, Spread> {
  const names = Object.keys(measured[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, spread(measured.map((result) => result[name] ?? Number.NaN))]));
}

function print(workload: string, figures: Record<string, Spread>): void {
  console.log(`${workload.padEnd(28)}${['min', 'median', 'max'].map((title) => title.padStart(12)).join('')}`);
  for (const [name, { min, median, max }] of Object.entries(figures)) {
    console.log(`  ${name.padEnd(26)}${[min, median, max].map((value) => shown(value).padStart(12)).join('')}`);
  }
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

await main();
