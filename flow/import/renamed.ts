// New names for what has one that can't stay.

import { flowLimits } from '../definition/limits.ts';

export interface Renaming {
  readonly nameOf: (original: string) => string;
  /** Of the names that were given, the original of each. */
  readonly originals: ReadonlyMap<string, string>;
}

/** `keep` says under which name an original can stay; others are called `<prefix><number>`, each once. */
export function renamed(
  originals: readonly string[],
  prefix: string,
  keep: (original: string) => string | undefined,
): Renaming {
  const names = new Map<string, string>();
  const given = new Map<string, string>();
  const kept = new Set(originals.flatMap((original) => keep(original) ?? []));
  let number = 0;
  for (const original of originals) {
    if (names.has(original)) continue;
    let name = keep(original);
    if (name === undefined) {
      do name = `${prefix}${++number}`;
      while (kept.has(name));
      given.set(name, original);
    }
    names.set(original, name);
  }
  return { nameOf: (original) => names.get(original) ?? original, originals: given };
}

/** What a flow is called whose original may be called anything: the letters, digits and signs of it that names have. */
export function flowNameOf(original: string): string {
  const name = original
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, flowLimits.maxNameCharacters)
    .replace(/-+$/, '');
  return name === '' ? 'pipeline' : name;
}
