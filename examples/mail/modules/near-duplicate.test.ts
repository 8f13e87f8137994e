import { describe, expect, it } from 'vitest';
import { indexReferences } from './near-duplicate.ts';

const words = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `word${from + index}`).join(' ');
const newsletter = words(0, 200);
const changed = newsletter.replace('word100', 'other');
const different = words(1_000, 200);

describe('indexReferences', () => {
  const duplicates = indexReferences([
    { key: 'c', text: newsletter },
    { key: 'b', text: changed },
    { key: 'd', text: different },
    { key: 'short', text: 'unsubscribe' },
  ]);

  it('names the smallest key of nearly the same texts', () => {
    expect(duplicates.find('z', newsletter)).toBe('b');
    expect(duplicates.find('a', newsletter.toUpperCase().replaceAll(' ', ', '))).toBe('b');
  });

  it('calls the text with the smallest key the original', () => {
    expect(duplicates.find('b', changed)).toBe('');
    expect(duplicates.find('c', newsletter)).toBe('b');
  });

  it('finds nothing for other texts, halves and texts too short to compare', () => {
    expect(duplicates.find('z', words(2_000, 200))).toBe('');
    expect(duplicates.find('z', `${words(0, 100)} ${words(3_000, 100)}`)).toBe('');
    expect(duplicates.find('z', 'unsubscribe')).toBe('');
    expect(duplicates.find('z', '')).toBe('');
  });

  it('does not depend on the order of the references', () => {
    const reversed = indexReferences([
      { key: 'b', text: changed },
      { key: 'c', text: newsletter },
    ]);
    expect(reversed.find('z', newsletter)).toBe('b');
  });
});
