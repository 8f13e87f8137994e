import { describe, expect, it } from 'vitest';
import { didYouMean, nearestName } from './nearest-name.ts';

describe('nearestName', () => {
  it.each([
    ['parsee', ['language', 'parse'], 'parse'],
    ['prase', ['parse'], 'parse'],
    ['scor', ['score', 'scores'], 'score'],
    ['', ['a'], undefined],
    ['xyz', ['parse'], undefined],
    // Two letters share nothing after two edits.
    ['ab', ['cd'], undefined],
    ['a'.repeat(100_000), ['a'], undefined],
  ])('of %.10s among %s is %s', (name, names, nearest) => {
    expect(nearestName(name, names)).toBe(nearest);
  });
});

describe('didYouMean', () => {
  it('says nothing without a near name', () => {
    expect(didYouMean('parsee', ['parse'])).toBe("; did you mean 'parse'?");
    expect(didYouMean('xyz', ['parse'])).toBe('');
  });
});
