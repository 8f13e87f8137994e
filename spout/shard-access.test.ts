import { describe, expect, it } from 'vitest';
import { spoutDefaults } from './settings.ts';
import { ShardAccess } from './shard-access.ts';
import { SpoutWorld } from './spout-fixture.ts';

function setUp(random = 0.5) {
  const world = new SpoutWorld(1);
  const { clock, store, membership, errors } = world;
  const onError = (error: unknown, doing: string) => errors.push(`${doing}: ${String(error)}`);
  const ports = { clock, store, membership, random: () => random, onError };
  const access = new ShardAccess(ports, { ...spoutDefaults, pageEntries: 2 });
  access.own = [0, 1];
  return { world, access };
}

const failing = () => Promise.reject(new Error('away'));
const answering = () => Promise.resolve('an answer');

describe('ShardAccess', () => {
  it('lets a failing shard rest, longer each time up to five seconds, and others not', async () => {
    const { world, access } = setUp();
    for (const restMs of [50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
      expect(await access.attempt(0, 'reading', failing)).toBeUndefined();
      expect(await access.attempt(1, 'reading', answering)).toEqual({ answer: 'an answer' });
      await world.clock.advance(restMs - 1);
      expect(await access.attempt(0, 'reading', answering)).toBeUndefined();
      await world.clock.advance(1);
    }
    expect(access.errors).toBe(9);
    expect(world.errors[0]).toBe('reading of shard 0: Error: away');
    expect(await access.attempt(0, 'reading', answering)).toEqual({ answer: 'an answer' });
    await access.attempt(0, 'reading', failing);
    await world.clock.advance(50);
    expect(await access.attempt(0, 'reading', answering)).toEqual({ answer: 'an answer' });
  });

  it('varies pauses by a quarter either way', () => {
    expect(setUp(0).access.jittered(100)).toBe(75);
    expect(setUp(0.5).access.jittered(100)).toBe(100);
    expect(setUp(0.999).access.jittered(100)).toBeCloseTo(125, 0);
  });

  it('walks over all pages in order, to the end', async () => {
    const { world, access } = setUp();
    for (let order = 1; order <= 5; order++) await world.create(`run-${order}`, { order });
    const pages: number[][] = [];
    const whole = await access.walk(0, 'ready', undefined, async (hits) => {
      pages.push(hits.map(({ control }) => control.order));
    });
    expect(whole).toBe(true);
    expect(pages).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('ends a walk when the store fails, and when it is stopped', async () => {
    const { world, access } = setUp();
    for (let order = 1; order <= 5; order++) await world.create(`run-${order}`, { order });
    let pages = 0;
    const stopped = await access.walk(0, 'ready', undefined, async () => {
      pages++;
      access.stop();
    });
    expect([stopped, pages]).toEqual([false, 1]);
    const other = setUp();
    other.world.store.scan = failing;
    expect(await other.access.walk(0, 'ready', undefined, async () => {})).toBe(false);
  });

  it('asks nothing about a shard that is not ours, and drops what it reads of one that went meanwhile', async () => {
    const { world, access } = setUp();
    for (let order = 1; order <= 5; order++) await world.create(`run-${order}`, { order });
    expect(await access.attempt(2, 'reading', answering)).toBeUndefined();
    const reading = access.page(0, 'ready', {});
    access.own = [1];
    expect(await reading).toBeUndefined();
    expect([access.isOwn(0), access.isOwn(1)]).toEqual([false, true]);
    expect(access.errors).toBe(0);
  });
});
