import { describe, expect, it } from 'vitest';
import type { ChildSeen } from '../../flow/event.ts';
import { StoreErrands } from './errands.ts';
import { Relatives, startEffect } from './relatives-fixture.ts';

/** Reads fail for as long as `failing` is set. */
function setUp() {
  const world = new Relatives();
  const errands = new StoreErrands(world.holding, world.creation);
  const reads = { failing: true, made: 0 };
  const load = world.store.load.bind(world.store);
  world.store.load = async (run) => {
    reads.made++;
    if (reads.failing) throw new Error('no answer');
    return load(run);
  };
  const seen: ChildSeen[] = [];
  return { world, reads, seen, start: () => errands.start(startEffect(), (how) => seen.push(how)) };
}

describe('an errand', () => {
  it('says what it found, later', async () => {
    const { world, seen, start } = setUp();
    start();
    expect(seen).toEqual([]);
    await world.clock.advance(0);
    expect(seen).toEqual([{ kind: 'open', child: world.child }]);
  });

  it('is repeated with pauses until it is certain', async () => {
    const { world, reads, seen, start } = setUp();
    start();
    await world.clock.advance(0);
    seen.length = 0;
    start();
    await world.clock.advance(10_000);
    expect(reads.made).toBe(8);
    expect(world.errors[0]).toBe('starting a run for step sub of test/parent/item: no answer');
    reads.failing = false;
    await world.clock.advance(10_000);
    expect(seen).toEqual([{ kind: 'open', child: world.child }]);
    await world.clock.advance(60_000);
    expect(reads.made).toBe(9);
  });

  it('that is given up tries and says nothing more', async () => {
    const { world, reads, seen, start } = setUp();
    start();
    await world.clock.advance(0);
    seen.length = 0;
    const waiting = start();
    const underWay = start();
    underWay.giveUp();
    await world.clock.advance(0);
    waiting.giveUp();
    reads.failing = false;
    await world.clock.advance(60_000);
    expect(seen).toEqual([]);
    expect(reads.made).toBe(2);
  });
});
