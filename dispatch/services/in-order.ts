/**
 * Does `work` for each item of `source` and gives the results in the order of the items. Up to `maxInFlight` items are being
 * worked on at a time; beyond them, and while nobody takes the results, nothing is read but the one item that is awaited.
 * A rejected `work` or source ends the iteration with its error, after the results before it.
 */
export async function* inOrder<In, Out>(
  source: AsyncIterable<In>,
  maxInFlight: number,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void> {
  const iterator = source[Symbol.asyncIterator]();
  const started: Array<Promise<Out>> = [];
  const read = () => heard(iterator.next().then((result) => ({ kind: 'read', result }) as const));
  let reading: ReturnType<typeof read> | undefined = read();
  try {
    while (reading || started.length > 0) {
      const waitedFor: Array<Promise<{ kind: 'done'; value: Out } | { kind: 'read'; result: IteratorResult<In> }>> = [];
      const [first] = started;
      if (first) waitedFor.push(first.then((value) => ({ kind: 'done', value })));
      if (reading && started.length < maxInFlight) waitedFor.push(reading);
      const event = await Promise.race(waitedFor);
      if (event.kind === 'done') {
        void started.shift();
        yield event.value;
      } else if (event.result.done) {
        reading = undefined;
      } else {
        started.push(heard(work(event.result.value)));
        reading = read();
      }
    }
  } finally {
    // Not awaited: a source that waits for its next item returns only after it.
    void iterator.return?.().catch(() => {});
  }
}

/** Its failure is met when its turn comes; until then it must not count as one that nobody handles. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
