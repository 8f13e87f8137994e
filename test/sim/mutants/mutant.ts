// A fault planted in the protocol, to see that the checkers are not blind: one line of the real source, replaced while it is loaded.

import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { CheckerName } from '../checkers/check.ts';

export interface Mutant {
  /** What the engine does wrong then. */
  readonly name: string;
  /** From the root of the project. */
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly line: string;
  readonly instead: string;
  /** The checker that is there for it; others may catch it too. */
  readonly caughtBy: CheckerName;
}

const root = new URL('../../../', import.meta.url);

/** How often the text that a mutant replaces is in its file. */
export function occurrences({ file, line }: Mutant): number {
  return readFileSync(new URL(file, root), 'utf8').split(line).length - 1;
}

/**
 * From now on this process loads the file with the fault in it; the file on disk is not changed. To be called before the file is
 * loaded. Throws when the text isn't in the file exactly once.
 */
export function plant(mutant: Mutant): void {
  const { name, file, line, instead } = mutant;
  if (occurrences(mutant) !== 1)
    throw new Error(`mutant "${name}": its line is ${occurrences(mutant)} times in ${file}`);
  const at = new URL(file, root);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (url !== at.href) return loaded;
      // A function, since a replacement text may contain `$`.
      return { ...loaded, source: readFileSync(at, 'utf8').replace(line, () => instead) };
    },
  });
}
