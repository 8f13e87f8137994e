import { describe, expect, it } from 'vitest';
import { Deadlines } from './deadlines.ts';

describe('deadlines of locks', () => {
  it('are kept by run and owner, until they are over or given back', () => {
    const deadlines = new Deadlines<string>();
    deadlines.set('r', 'a', 100, 'first', 0);
    deadlines.set('r', 'b', 200, 'second', 0);
    expect([deadlines.get('r', 'a', 99), deadlines.get('r', 'b', 99)]).toEqual(['first', 'second']);
    expect([deadlines.get('r', 'a', 100), deadlines.get('r', 'b', 100)]).toEqual([undefined, 'second']);
    deadlines.delete('r', 'b');
    expect(deadlines.get('r', 'b', 100)).toBeUndefined();
  });

  it('are forgotten when nobody gives them back', () => {
    const deadlines = new Deadlines<string>();
    for (let number = 0; number < 1_000; number++) deadlines.set(`${number}`, 'a', number + 10, 'lock', number);
    expect(deadlines.size).toBeLessThan(12);
  });
});
