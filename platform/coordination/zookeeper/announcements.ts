// What this process says of itself in a folder that others watch, under one ephemeral node for each key.

import { EphemeralNodes } from './ephemeral-nodes.ts';
import { nodeName } from './node-name.ts';
import type { ZooKeeperSession } from './session.ts';

export interface Announcement {
  /** What it is known by here: announced again, it replaces what was said before. */
  readonly key: string;
  /** Path of the folder. */
  readonly folder: string;
  /** For people who look at the tree. */
  readonly shown: string;
  readonly data: Uint8Array;
}

export class Announcements {
  readonly #nodes: EphemeralNodes;
  readonly #paths = new Map<string, string>();

  constructor(session: ZooKeeperSession, onChange: () => void, onProblem: (problem: string) => void) {
    this.#nodes = new EphemeralNodes(session, onChange, onProblem);
  }

  close(): void {
    this.#nodes.close();
  }

  /** Resolves when others can see it. */
  async announce({ key, folder, shown, data }: Announcement): Promise<void> {
    const path = `${folder}/${nodeName(shown, data)}`;
    const before = this.#paths.get(key);
    this.#paths.set(key, path);
    await this.#nodes.hold(path, data);
    // Afterwards, so that it is never missed in between.
    if (before !== undefined && before !== path) await this.#nodes.release(before);
  }

  /** Resolves when nobody sees it any more, or nobody can be told. */
  async withdraw(key: string): Promise<void> {
    const path = this.#paths.get(key);
    if (path === undefined) return;
    this.#paths.delete(key);
    await this.#nodes.release(path);
  }

  /** There is something to see, and all of it is known to be seen. */
  get isSeen(): boolean {
    return this.#paths.size > 0 && [...this.#paths.values()].every((path) => this.#nodes.isThere(path));
  }

  /** A reading of the folder shows these names: what is missing is looked after. */
  compare(folder: string, names: { has(name: string): boolean }): void {
    for (const path of this.#paths.values()) {
      const name = path.slice(folder.length + 1);
      if (path === `${folder}/${name}` && !name.includes('/') && !names.has(name)) this.#nodes.verify(path);
    }
  }
}
