import { describe, expect, it } from 'vitest';
import { ReadyQueue } from './ready-queue.ts';

describe('ready queue', () => {
  it('gives the first level first, inside a level in order of arrival', () => {
    const queue = new ReadyQueue<string>();
    for (const [level, item] of [
      [5, 'a'],
      [1, 'b'],
      [5, 'c'],
      [9, 'd'],
      [1, 'e'],
    ] as const)
      queue.push(level, item);
    const taken = Array.from({ length: 6 }, () => queue.take());
    expect(taken).toEqual(['b', 'e', 'a', 'c', 'd', undefined]);
    expect(queue.size).toBe(0);
  });

  it('knows what waits at a level or before it', () => {
    const queue = new ReadyQueue<string>();
    queue.push(4, 'a');
    expect([3, 4, 9].map((level) => queue.waitsAtOrBefore(level))).toEqual([false, true, true]);
    queue.take();
    expect(queue.waitsAtOrBefore(9)).toBe(false);
  });

  it('refuses levels that do not exist', () => {
    expect(() => new ReadyQueue<string>().push(10, 'a')).toThrow('level 10');
  });
});
