/**
 * The items of `source` until `signal` aborts; then the iteration ends well, also when the source gives nothing any more.
 * For streams that their caller may hold open for ever, with `context.stopping`.
 */
export async function* until<T>(signal: AbortSignal, source: AsyncIterable<T>): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let abort = (): void => {};
  const aborted = new Promise<{ done: true; value: undefined }>((resolve) => {
    abort = () => resolve({ done: true, value: undefined });
  });
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    while (true) {
      const next = iterator.next();
      // When the abort wins, nobody is left to hear how this read fails.
      next.catch(() => {});
      const result = await Promise.race([next, aborted]);
      if (result.done) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // Not awaited: a source that waits for its next item returns only after it.
    void iterator.return?.().catch(() => {});
  }
}
