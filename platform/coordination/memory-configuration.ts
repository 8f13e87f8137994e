import type { Configuration, ConfigurationEntry, PutResult } from './configuration.ts';
import { checkPath, checkValue, childName } from './configuration-path.ts';
import { ConfigurationWatchers } from './configuration-watchers.ts';

/** Configuration that is gone with the process: for tests and the simulation, whose processes share one. */
export class MemoryConfiguration implements Configuration {
  readonly #entries = new Map<string, ConfigurationEntry>();
  readonly #watchers = new ConfigurationWatchers();

  async get(path: string): Promise<ConfigurationEntry | undefined> {
    checkPath(path);
    const entry = this.#entries.get(path);
    return entry && { value: copied(entry.value), version: entry.version };
  }

  async put(path: string, value: Uint8Array, expectedVersion: number): Promise<PutResult> {
    checkPath(path);
    checkValue(path, value);
    const version = this.#entries.get(path)?.version ?? 0;
    if (version !== expectedVersion) return { kind: 'conflict', version };
    this.#entries.set(path, { value: copied(value), version: version + 1 });
    this.#watchers.changed(path);
    return { kind: 'done', version: version + 1 };
  }

  async children(path: string): Promise<readonly string[]> {
    checkPath(path);
    const names = new Set<string>();
    for (const entry of this.#entries.keys()) {
      const name = childName(entry, path);
      if (name !== undefined) names.add(name);
    }
    return [...names].sort();
  }

  watch(path: string, listener: (changed: string) => void): () => void {
    checkPath(path);
    return this.#watchers.watch(path, listener);
  }
}

/** Not `slice`, which of a Buffer is a view. */
function copied(value: Uint8Array): Uint8Array {
  return Uint8Array.from(value);
}
