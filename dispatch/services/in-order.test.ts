import { describe, expect, it } from 'vitest';
import { inOrder } from './in-order.ts';

async function* numbers(count: number, onRead: (number: number) => void = () => {}): AsyncGenerator<number> {
  for (let number = 1; number <= count; number++) {
    onRead(number);
    yield number;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('inOrder', () => {
  it('keeps the order, whichever is done first', async () => {
    const open: Array<() => void> = [];
    const results: number[] = [];
    const reading = (async () => {
      const work = (number: number) => new Promise<number>((resolve) => open.push(() => resolve(number * 10)));
      for await (const result of inOrder(numbers(3), 3, work)) results.push(result);
    })();
    await settle();
    expect(open).toHaveLength(3);
    open[2]?.();
    open[1]?.();
    await settle();
    expect(results).toEqual([]);
    open[0]?.();
    await reading;
    expect(results).toEqual([10, 20, 30]);
  });

  it('reads no further than the items in flight and one more', async () => {
    let read = 0;
    const iterator = inOrder(
      numbers(100, (number) => (read = number)),
      4,
      () => new Promise<number>(() => {}),
    );
    void iterator.next();
    await settle();
    expect(read).toBe(5);
  });

  it('reads nothing while nobody takes the results', async () => {
    let read = 0;
    const iterator = inOrder(
      numbers(100, (number) => (read = number)),
      4,
      async (number) => number,
    );
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    const before = read;
    await settle();
    expect(read).toBe(before);
  });

  it('gives the results before a failure', async () => {
    const results: number[] = [];
    const reading = (async () => {
      const work = async (number: number) => {
        if (number === 3) throw new Error('three');
        return number;
      };
      for await (const result of inOrder(numbers(5), 4, work)) results.push(result);
    })();
    await expect(reading).rejects.toThrow('three');
    expect(results).toEqual([1, 2]);
  });

  it('closes its source when it is left', async () => {
    let closed = false;
    async function* source() {
      try {
        yield* numbers(10);
      } finally {
        closed = true;
      }
    }
    for await (const result of inOrder(source(), 2, async (number) => number)) if (result === 2) break;
    await settle();
    expect(closed).toBe(true);
  });
});
