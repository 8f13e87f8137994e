// The whole of Weir killed again and again while it works, then left to finish: nothing is lost and nothing is done twice.

import { expect, it } from 'vitest';
import { places } from '../../../cli/roles/fail-points.ts';
import { runChaos } from './harness.ts';
import { printReport } from './summary.ts';

const items = 10_000;
const kills = 60;

it('embedded: loses, doubles and spoils nothing', { timeout: 600_000 }, async () => {
  const seed = Math.floor(Math.random() * 100_000);
  const report = await runChaos({ target: 'embedded', items, disturbances: { kills }, seed, say: console.log });
  console.log(printReport(report));
  expect(report.violations.slice(0, 20), `seed ${seed}`).toEqual([]);
  expect(report).toMatchObject({ items, acknowledged: items, lost: 0, doubleTerminal: 0, wrongResults: 0, parked: 1 });
  // Otherwise the test has shown nothing.
  const { engine = 0, module = 0 } = report.kills;
  expect(engine + module).toBeGreaterThanOrEqual(kills);
  expect(engine).toBeGreaterThan(0);
  expect(
    [...report.failPoints]
      .filter(([, { deaths }]) => deaths > 0)
      .map(([place]) => place)
      .sort(),
  ).toEqual([...places].sort());
  expect(report.poisonDeaths).toBeGreaterThan(0);
  expect(report.repeatedCalls).toBeGreaterThan(0);
  expect(report.losses.slice(1).some((steps) => steps > 0)).toBe(true);
});
