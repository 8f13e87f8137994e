import { describe, expect, it } from 'vitest';
import { countBits, emptyBits, hasBit, withBit } from './bits.ts';

describe('bits', () => {
  const some = [0, 7, 8, 19].reduce(withBit, emptyBits(20));

  it('hold small numbers', () => {
    expect(Array.from({ length: 20 }, (_, index) => index).filter((index) => hasBit(some, index))).toEqual([
      0, 7, 8, 19,
    ]);
    expect(hasBit(some, 500)).toBe(false);
  });

  it('are copied, not written', () => {
    const before = emptyBits(20);
    withBit(before, 3);
    expect(countBits(before)).toBe(0);
  });

  it.each([
    [0, 0],
    [1, 1],
    [7, 1],
    [8, 2],
    [9, 3],
    [19, 3],
    [20, 4],
  ])('are counted below %i: %i', (end, count) => {
    expect(countBits(some, end)).toBe(count);
  });

  it('are counted four bytes at a time, wherever they lie', () => {
    const inside = new Uint8Array(103).fill(0xff).subarray(1, 101);
    expect(countBits(inside)).toBe(800);
    for (let end = 0; end <= 800; end += 37) expect(countBits(inside, end)).toBe(end);
  });

  it('are counted all where no end is said', () => {
    expect(countBits(some)).toBe(4);
    expect(countBits(emptyBits(0))).toBe(0);
  });
});
