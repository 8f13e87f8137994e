import { beforeAll, describe, expect, it } from 'vitest';
import { InboxEventSchema } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { EventKind } from './counts.ts';
import { runSeeds } from './crew.ts';
import { keptSeeds } from './kept-seeds.ts';
import { mutants } from './mutants/mutants.ts';
import { judgeMutants } from './mutants/table.ts';
import { simulate } from './run.ts';
import { Totals } from './totals.ts';
import { faultKinds } from './world/fault-kinds.ts';
import { traceHash } from './world/trace.ts';

/** Far more than these take, in ms: a machine may be busy with other things. */
const timeoutMs = 240_000;
/** Processes at once: what the machines that check every change have. */
const workers = 2;

const seeds = Array.from({ length: 100 }, (_, index) => index + 1);

describe('100 worlds', () => {
  const totals = new Totals();
  const dirty: string[] = [];

  beforeAll(async () => {
    for await (const { seed, violations, counts } of runSeeds(seeds, { workers })) {
      if (counts) totals.add(seed, counts);
      for (const { checker, message } of violations) dirty.push(`seed ${seed}: ${checker}: ${message}`);
    }
  }, timeoutMs);

  it('are clean', () => {
    expect(dirty).toEqual([]);
  });

  it('count', () => {
    expect(totals.missing()).toEqual([]);
  });

  it('had every kind of fault in them', () => {
    expect(faultKinds.filter((kind) => !totals.faults.has(kind))).toEqual([]);
  });

  it('had writes to refuse, calls to repeat or take back, and work that was done', () => {
    expect(totals.staleWritesRefused).toBeGreaterThan(10);
    expect(totals.callsRepeated).toBeGreaterThan(100);
    expect(totals.callsWithdrawn).toBeGreaterThan(0);
    expect(totals.callsAnswered).toBeGreaterThan(5_000);
    expect(totals.runsByState.size).toBe(4);
  });

  it('had families, and events of every kind', () => {
    expect(totals.children).toBeGreaterThan(500);
    const kinds = InboxEventSchema.oneofs.flatMap(({ fields }) => fields.map(({ localName }) => localName));
    expect(kinds.filter((kind) => !totals.eventsByKind.has(kind as EventKind))).toEqual([]);
  });
});

describe('kept seeds', () => {
  it('are clean', { timeout: timeoutMs }, async () => {
    const dirty: string[] = [];
    const kept = keptSeeds();
    for await (const { seed, violations } of runSeeds([...new Set(kept.map((each) => each.seed))], { workers })) {
      const why = kept.find((each) => each.seed === seed)?.why;
      for (const { checker, message } of violations) dirty.push(`seed ${seed} (${why}): ${checker}: ${message}`);
    }
    expect(dirty).toEqual([]);
  });
});

describe('determinism', () => {
  it.for(seeds.slice(0, 20))('seed %i has one history', { timeout: timeoutMs }, async (seed) => {
    const [one, other] = [await simulate(seed), await simulate(seed)];
    expect(traceHash(other.history)).toBe(traceHash(one.history));
  });

  it('gives another seed another history', { timeout: timeoutMs }, async () => {
    const [one, other] = [await simulate(1), await simulate(2)];
    expect(traceHash(other.history)).not.toBe(traceHash(one.history));
  });
});

describe('planted faults', () => {
  // All of them take minutes, and are a command of their own: npm run sim -- --mutants.
  it('are caught, some of each kind', { timeout: timeoutMs }, async () => {
    const some = ['versions are not compared', 'effects come before the commit', 'losses are not counted'];
    const meant = mutants.filter(({ name }) => some.includes(name));
    const survivors: string[] = [];
    for await (const { mutant, by } of judgeMutants(meant, seeds.slice(0, 40), { workers, untilCaught: true })) {
      if (!by.has(mutant.caughtBy))
        survivors.push(`${mutant.name}: caught by ${[...by.keys()].join(', ') || 'nobody'}`);
    }
    expect(meant.length).toBe(some.length);
    expect(survivors).toEqual([]);
  });
});
