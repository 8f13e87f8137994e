// npm run chaos -- [--target embedded] [--items 10000] [--kills 60] [--seed N] [--trace]
// npm run chaos -- --target cluster [--items 10000] [--seconds 300] [--seed N] [--trace]

import { parseArgs } from 'node:util';
import { runChaos, targets } from './harness.ts';
import { printReport } from './summary.ts';

/** Violations that are printed: the first ones tell what is wrong. */
const maxPrinted = 40;

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'embedded' },
    items: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '300' },
    trace: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 100_000)) },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  const { target } = values;
  if (!Object.hasOwn(targets, target)) {
    throw new Error(`--target takes one of ${Object.keys(targets).join(', ')}, found ${JSON.stringify(target)}`);
  }
  const [items, seed] = [wholeNumber('items'), wholeNumber('seed')];
  const amount = target === 'cluster' ? 'seconds' : 'kills';
  const disturbances = amount === 'seconds' ? { seconds: wholeNumber(amount) } : { kills: wholeNumber(amount) };
  const traced = values.trace ? { trace: console.log } : {};
  const report = await runChaos({ target, items, disturbances, seed, say: console.log, ...traced });
  console.log(`\n${printReport(report)}\n`);
  const { violations } = report;
  const isRight = violations.length === 0;
  console.log(isRight ? '1 passed, 0 failed' : '0 passed, 1 failed');
  if (isRight) return true;
  for (const violation of violations.slice(0, maxPrinted)) console.log(violation);
  if (violations.length > maxPrinted) console.log(`and ${violations.length - maxPrinted} more`);
  console.log(
    `again: npm run chaos -- --target ${target} --items ${items} --${amount} ${values[amount]} --seed ${seed}`,
  );
  return false;
}

function wholeNumber(name: 'items' | 'kills' | 'seconds' | 'seed'): number {
  const number = Number(values[name]);
  if (/^[0-9]{1,9}$/.test(values[name])) return number;
  throw new Error(`--${name} takes a whole number, found ${JSON.stringify(values[name])}`);
}
