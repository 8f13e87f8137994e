import { describe, expect, it } from 'vitest';
import { placeOf, reviewReason } from './place.ts';

describe('placeOf', () => {
  it('is the same for the same mail', () => {
    expect(placeOf('published/en', 'easy-ham-1/00001')).toBe('published/en/easy-ham-1/00001');
  });
});

describe('reviewReason', () => {
  it('names the copy, or the score', () => {
    expect(reviewReason({ spamScore: 0.2, nearDuplicateOf: 'easy-ham-1/00005' })).toBe(
      'nearly the same as easy-ham-1/00005',
    );
    expect(reviewReason({ spamScore: 0.7, nearDuplicateOf: '' })).toBe('spam score 0.7 is no clear answer');
  });
});
