// The port to configuration: a small tree of values, each with a version, changed by compare-and-set and watched.
// It holds what people configure (flows and release pointers, later limits and routes), not the state of runs.

export interface ConfigurationEntry {
  readonly value: Uint8Array;
  /** From 1; rises with each change. */
  readonly version: number;
}

export type PutResult =
  | { readonly kind: 'done'; readonly version: number }
  /** The entry's version isn't the expected one; 0 when it doesn't exist. */
  | { readonly kind: 'conflict'; readonly version: number };

/**
 * What keeps the configuration can't be reached. A `get` or `children` throws it only for what was never read before; a `put` without
 * having changed anything, unless `maybeDone`.
 */
export class ConfigurationUnavailable extends Error {
  readonly maybeDone: boolean;

  constructor(path: string, why: string, maybeDone = false) {
    super(`the configuration of ${path} is unavailable: ${why}${maybeDone ? '; it may have been changed' : ''}`);
    this.name = 'ConfigurationUnavailable';
    this.maybeDone = maybeDone;
  }
}

export interface Configuration {
  /** `path` is `/`-separated, each part of [A-Za-z0-9._-]. */
  get(path: string): Promise<ConfigurationEntry | undefined>;
  /** `expectedVersion` 0: the entry must not exist. */
  put(path: string, value: Uint8Array, expectedVersion: number): Promise<PutResult>;
  /** Names of the entries directly below `path`, sorted. */
  children(path: string): Promise<readonly string[]>;
  /** Calls `listener` with the path of each entry at or below `path` that changed, until the answer is called. */
  watch(path: string, listener: (changed: string) => void): () => void;
}
