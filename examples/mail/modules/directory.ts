import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The engine's module directory, which is also where module processes learn what to listen on. */
export const directoryPath = fileURLToPath(new URL('../modules.yaml', import.meta.url));

export interface Listening {
  /** host:port */
  readonly address: string;
  /** Calls at a time; more are answered with overload. */
  readonly concurrency: number;
}

/** How the `index`-th endpoint of a module listens. Throws when modules.yaml has none: the example is wired wrongly then. */
export function listening(module: string, index: number): Listening {
  const { modules } = parse(readFileSync(directoryPath, 'utf8')) as {
    modules: Record<string, { endpoints: string[]; concurrency: number } | undefined>;
  };
  const address = modules[module]?.endpoints[index];
  if (address === undefined) throw new Error(`modules.yaml: ${module} has no endpoint number ${index + 1}`);
  return { address, concurrency: modules[module]?.concurrency ?? 1 };
}
