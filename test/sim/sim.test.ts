import { beforeAll, describe, expect, it } from 'vitest';
import { keptSeeds } from './kept-seeds.ts';
import { mutants } from './mutants.ts';
import { simulate } from './run.ts';
import { Totals } from './totals.ts';
import { faultKinds } from './world/fault-kinds.ts';
import { traceHash } from './world/trace.ts';

/** Far more than these take, in ms: a machine may be busy with other things. */
const timeoutMs = 120_000;

const seeds = Array.from({ length: 100 }, (_, index) => index + 1);

describe('100 worlds', () => {
  const totals = new Totals();
  const dirty: string[] = [];

  beforeAll(async () => {
    for (const seed of seeds) {
      const { violations, counts } = await simulate(seed);
      totals.add(counts);
      for (const { checker, message } of violations) dirty.push(`seed ${seed}: ${checker}: ${message}`);
    }
  }, timeoutMs);

  it('are clean', () => {
    expect(dirty).toEqual([]);
  });

  it('had every kind of fault in them', () => {
    expect(faultKinds.filter((kind) => !totals.faults.has(kind))).toEqual([]);
  });

  it('had writes to refuse, calls to repeat or take back, and work that was done', () => {
    expect(totals.writesRefused).toBeGreaterThan(100);
    expect(totals.callsRepeated).toBeGreaterThan(100);
    expect(totals.callsWithdrawn).toBeGreaterThan(0);
    expect(totals.callsAnswered).toBeGreaterThan(5_000);
    expect(totals.runsByState.size).toBe(4);
  });
});

describe('kept seeds', () => {
  it('are clean', { timeout: timeoutMs }, async () => {
    const dirty: string[] = [];
    for (const { seed, why } of keptSeeds()) {
      const { violations } = await simulate(seed);
      for (const { checker, message } of violations) dirty.push(`seed ${seed} (${why}): ${checker}: ${message}`);
    }
    expect(dirty).toEqual([]);
  });
});

describe('determinism', () => {
  it.for([1, 2, 3, 4, 5])('seed %i has one history', { timeout: timeoutMs }, async (seed) => {
    const [one, other] = [await simulate(seed), await simulate(seed)];
    expect(traceHash(other.history)).toBe(traceHash(one.history));
  });

  it('gives another seed another history', async () => {
    const [one, other] = [await simulate(1), await simulate(2)];
    expect(traceHash(other.history)).not.toBe(traceHash(one.history));
  });
});

describe('planted faults are caught', () => {
  it.for(Object.entries(mutants))('%s', { timeout: timeoutMs }, async ([, { caughtBy, ...mutant }]) => {
    const caught = new Set<string>();
    for (const seed of seeds) {
      const { violations } = await simulate(seed, mutant);
      for (const { checker } of violations) caught.add(checker);
      if (caught.has(caughtBy)) return;
    }
    expect([...caught]).toContain(caughtBy);
  });
});
