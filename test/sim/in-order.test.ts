import { describe, expect, it } from 'vitest';
import { inOrder } from './in-order.ts';

describe('things done at once', () => {
  it('are told in their order, and no more of them begin than there are lanes', async () => {
    const begun: number[] = [];
    const ends = new Map<number, () => void>();
    const run = (item: number) => {
      begun.push(item);
      return new Promise<string>((resolve) => ends.set(item, () => resolve(`done ${item}`)));
    };
    const results = inOrder([1, 2, 3], 2, run);
    const first = results.next();
    expect(begun).toEqual([1, 2]);
    ends.get(2)?.();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(begun).toEqual([1, 2, 3]);
    ends.get(3)?.();
    ends.get(1)?.();
    expect((await first).value).toBe('done 1');
    expect((await results.next()).value).toBe('done 2');
    expect((await results.next()).value).toBe('done 3');
    expect((await results.next()).done).toBe(true);
  });

  it('end with what fails first, and nothing more begins', async () => {
    const begun: number[] = [];
    const run = async (item: number) => {
      begun.push(item);
      if (item === 1) throw new Error('broken');
      return item;
    };
    const results = inOrder([1, 2, 3, 4], 1, run);
    await expect(results.next()).rejects.toThrow('broken');
    expect((await results.next()).done).toBe(true);
  });
});
