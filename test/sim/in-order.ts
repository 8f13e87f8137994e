// Several things at once, told in their order.

/**
 * Runs `run` for each item, on so many lanes at once, one after the other on each; answers the results in the order of the items,
 * whoever is done first. Whoever stops asking lets what is under way end, and nothing more begins.
 */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item, lane: number) => Promise<Result>,
): AsyncGenerator<Result> {
  const results = items.map(() => Promise.withResolvers<Result>());
  // Whoever stops asking doesn't hear of failures either.
  for (const { promise } of results) promise.catch(() => {});
  let next = 0;
  const work = async (lane: number): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const result = results[index];
      await run(items[index] as Item, lane).then(result?.resolve, result?.reject);
    }
  };
  const working = Array.from({ length: Math.min(lanes, items.length) }, (_, lane) => work(lane));
  try {
    for (const { promise } of results) yield await promise;
  } finally {
    next = items.length;
    await Promise.all(working);
  }
}
