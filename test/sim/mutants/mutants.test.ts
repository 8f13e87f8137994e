import { describe, expect, it } from 'vitest';
import { occurrences } from './mutant.ts';
import { mutants } from './mutants.ts';

describe('the planted faults', () => {
  it.for(mutants.map((mutant) => [mutant.name, mutant] as const))('%s: its line is there once', ([, mutant]) => {
    expect(occurrences(mutant)).toBe(1);
    expect(mutant.instead).not.toBe(mutant.line);
  });

  it('have names of their own', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });
});
