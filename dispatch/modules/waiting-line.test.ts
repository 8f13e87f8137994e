import { describe, expect, it } from 'vitest';
import { type Waiter, WaitingLine } from './waiting-line.ts';

interface Named extends Waiter {
  readonly name: string;
}

const waiter = (name: string, level: number, goesAnywhere = true): Named => ({ name, level, goesAnywhere });
const always = (): boolean => true;

function drain(line: WaitingLine<Named>, may: (waiter: Named) => boolean = always): string {
  const names: string[] = [];
  for (let next = line.first(may); next; next = line.first(may)) {
    line.remove(next);
    names.push(next.name);
  }
  return names.join(' ');
}

describe('WaitingLine', () => {
  it('goes by level, then by arrival', () => {
    const line = new WaitingLine<Named>();
    for (const [name, level] of [
      ['a', 9],
      ['b', 5],
      ['c', 1],
      ['d', 5],
      ['e', 9],
    ] as const)
      line.add(waiter(name, level));
    expect([...line].map(({ name }) => name).join(' ')).toBe('c b d a e');
    expect(line.size).toBe(5);
    expect(drain(line)).toBe('c b d a e');
    expect(line.size).toBe(0);
  });

  it('lets those that may not go everywhere go before the others of their level', () => {
    const line = new WaitingLine<Named>();
    line.add(waiter('anywhere', 5));
    line.add(waiter('returned', 5, false));
    line.add(waiter('urgent', 4));
    expect(drain(line)).toBe('urgent returned anywhere');
  });

  it('removes from anywhere, once', () => {
    const line = new WaitingLine<Named>();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => waiter(name, 5)) as [Named, Named, Named, Named];
    for (const each of [a, b, c, d]) line.add(each);
    for (const each of [b, a, d, d]) line.remove(each);
    expect(line.size).toBe(1);
    line.add(a);
    expect(drain(line)).toBe('c a');
    expect(() => {
      line.add(b);
      line.add(b);
    }).toThrow('invariant');
  });

  it('passes over those that may not go, and asks only one of those that go anywhere', () => {
    const line = new WaitingLine<Named>();
    for (let index = 0; index < 100; index++) line.add(waiter(`fresh${index}`, 1 + (index % 9)));
    line.add(waiter('was at x', 9, false));
    line.add(waiter('was at y', 9, false));
    const asked: string[] = [];
    const found = line.first((each) => {
      asked.push(each.name);
      return each.name === 'was at y';
    });
    expect(found?.name).toBe('was at y');
    expect(asked).toEqual(['fresh0', 'was at x', 'was at y']);
  });
});
