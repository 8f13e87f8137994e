// The directory of endpoints in a cluster: an ephemeral node for each registration, `<root>/endpoints/<name>`, made by the dispatch at
// which the endpoint has registered.
//
// Ownership: the nodes of what was published here; a copy of all.

import type { EndpointDirectory, RegisteredEndpoint } from '../endpoint-directory.ts';
import { Announcements } from './announcements.ts';
import { decodeRecord, encodeRecord, type Fields, isCount, isText } from './record.ts';
import type { ZooKeeperSession } from './session.ts';
import { type Decoded, WatchedFolder } from './watched-folder.ts';

const folderPath = '/endpoints';

export class ZooKeeperEndpointDirectory implements EndpointDirectory {
  readonly #own: Announcements;
  readonly #folder: WatchedFolder<RegisteredEndpoint>;
  readonly #listeners = new Set<() => void>();
  #names = new Set<string>();
  #endpoints: readonly RegisteredEndpoint[] = [];

  /** `onProblem`: for people, when something in ZooKeeper isn't as it should be. */
  constructor(session: ZooKeeperSession, onProblem: (problem: string) => void) {
    this.#own = new Announcements(session, () => {}, onProblem);
    this.#folder = new WatchedFolder({
      session,
      path: folderPath,
      decode: decodeEndpoint,
      onReading: (entries) => this.#readAll(entries),
      onProblem,
    });
  }

  /** Stops looking. What was published stays until it is withdrawn or the session ends. */
  close(): void {
    this.#own.close();
    this.#folder.close();
  }

  async publish(endpoint: RegisteredEndpoint): Promise<void> {
    const { module, address, registration, concurrency, weight, version, unit, labels } = endpoint;
    await this.#own.announce({
      key: registration,
      folder: folderPath,
      shown: `${module}_${address}`,
      data: encodeRecord({ module, address, registration, concurrency, weight, version, unit, labels }),
    });
    await this.#folder.refresh();
  }

  async withdraw({ registration }: RegisteredEndpoint): Promise<void> {
    await this.#own.withdraw(registration);
    await this.#folder.refresh();
  }

  endpoints(): readonly RegisteredEndpoint[] {
    return this.#endpoints;
  }

  watch(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  #readAll(entries: ReadonlyMap<string, RegisteredEndpoint>): void {
    this.#own.compare(folderPath, entries);
    const isSame = this.#names.size === entries.size && [...entries.keys()].every((name) => this.#names.has(name));
    if (isSame) return;
    this.#names = new Set(entries.keys());
    // One that is published again in another way is seen twice for a moment.
    const byRegistration = new Map([...entries.values()].map((endpoint) => [endpoint.registration, endpoint]));
    this.#endpoints = [...byRegistration.values()];
    for (const listener of [...this.#listeners]) listener();
  }
}

function decodeEndpoint(data: Uint8Array): Decoded<RegisteredEndpoint> {
  return decodeRecord(data, (fields: Fields) => {
    const { module, address, registration, concurrency, weight, version, unit, labels } = fields;
    if (!isText(module) || !isText(address) || !isText(registration) || !isText(version) || !isText(unit))
      return undefined;
    if (!isCount(concurrency) || !isCount(weight) || !isLabels(labels)) return undefined;
    return { module, address, registration, concurrency, weight, version, unit, labels };
  });
}

function isLabels(value: unknown): value is Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
}
