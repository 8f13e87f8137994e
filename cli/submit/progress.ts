// The bar of a long submission: on a terminal only.

import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  readonly addBytes: (bytes: number) => void;
  readonly showItems: (items: number) => void;
  readonly stop: () => void;
}

/** `totalBytes` is absent for an input whose end nobody knows: then only items are counted. */
export function startProgress(totalBytes: number | undefined, stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { addBytes: () => {}, showItems: () => {}, stop: () => {} };
  const bar = new SingleBar(
    {
      format: totalBytes === undefined ? '{items} items' : '{bar} {percentage} % | {items} items',
      stream,
      clearOnComplete: true,
      // A process that is interrupted has no time to give the cursor back.
      hideCursor: false,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  bar.start(totalBytes ?? 0, 0, { items: 0 });
  return {
    addBytes: (bytes) => bar.increment(bytes),
    showItems: (items) => bar.update({ items: items.toLocaleString('en') }),
    stop: () => bar.stop(),
  };
}
