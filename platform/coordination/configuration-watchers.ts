import { isAtOrBelow } from './configuration-path.ts';

/** Who wants to hear of which changes, for adapters in which all changes are made by this process. */
export class ConfigurationWatchers {
  readonly #watchers = new Set<{ readonly path: string; readonly listener: (changed: string) => void }>();

  watch(path: string, listener: (changed: string) => void): () => void {
    const watcher = { path, listener };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  changed(path: string): void {
    // A copy: a listener may take itself away.
    for (const watcher of [...this.#watchers]) if (isAtOrBelow(path, watcher.path)) watcher.listener(path);
  }
}
