import { describe, expect, it } from 'vitest';
import { until } from './until.ts';

async function* counting(left: () => void) {
  try {
    for (let n = 1; ; n++) yield n;
  } finally {
    left();
  }
}

describe('until', () => {
  it('gives the items until the signal aborts, and leaves the source', async () => {
    const controller = new AbortController();
    const left = Promise.withResolvers<void>();
    const seen: number[] = [];
    for await (const n of until(controller.signal, counting(left.resolve))) {
      seen.push(n);
      if (n === 3) controller.abort();
    }
    expect(seen.slice(0, 3)).toEqual([1, 2, 3]);
    await left.promise;
  });

  it('ends while the source gives nothing', async () => {
    const controller = new AbortController();
    const silent: AsyncIterable<number> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    const next = until(controller.signal, silent).next();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('ends with its source, and fails with it', async () => {
    const { signal } = new AbortController();
    const seen: number[] = [];
    for await (const n of until(
      signal,
      (async function* () {
        yield 1;
      })(),
    ))
      seen.push(n);
    expect(seen).toEqual([1]);
    // oxlint-disable-next-line require-yield
    const failing = (async function* () {
      throw new Error('broken');
    })();
    await expect(until(signal, failing).next()).rejects.toThrow('broken');
  });
});
