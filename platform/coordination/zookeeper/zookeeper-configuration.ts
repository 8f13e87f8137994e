// Configuration of a cluster, on ZooKeeper (configuration-tree.ts says where). Reads ask the servers; while those can't be reached, what
// was last read stands in, also after a restart.
//
// Invariants:
//   G1  Whoever watches hears of each change of an entry after it can be read: from the log of changes, or, when a process was away for
//       longer than that goes back, by comparing all entries.
//   G2  What was read as last known is compared once the servers can be reached, and a change since is told.

import {
  type Configuration,
  type ConfigurationEntry,
  ConfigurationUnavailable,
  type PutResult,
} from '../configuration.ts';
import { checkPath, checkValue } from '../configuration-path.ts';
import { ConfigurationWatchers } from '../configuration-watchers.ts';
import { type Answer, explain } from './answer.ts';
import { ChangeLog } from './change-log.ts';
import { nodeOf, partOf, treePath } from './configuration-tree.ts';
import { EntryStore, type StoredEntry } from './entry-store.ts';
import { LastKnown } from './last-known.ts';
import type { ZooKeeperSession } from './session.ts';

/** Versions remembered for comparing; entries beyond are told as changed when all are compared. */
const maxSeen = 100_000;

export interface ZooKeeperConfigurationOptions {
  readonly session: ZooKeeperSession;
  /** Unique, of [A-Za-z0-9_-]: names a put. */
  readonly newId: () => string;
  /** Where what was last read outlives the process. One process's own; absent: it doesn't. */
  readonly cacheFolder?: string;
  /** For people, when something isn't as it should be. */
  readonly onProblem: (problem: string) => void;
}

export class ZooKeeperConfiguration implements Configuration {
  readonly #session: ZooKeeperSession;
  readonly #entries: EntryStore;
  readonly #changes: ChangeLog;
  readonly #lastKnown: LastKnown;
  readonly #watchers = new ConfigurationWatchers();
  readonly #onProblem: (problem: string) => void;
  readonly #stopListening: () => void;
  /** Versions of the nodes that were read, by entry. */
  readonly #seen = new Map<string, number>();
  /** Versions of entries that were answered as last known, until they are compared (G2). */
  readonly #answeredOld = new Map<string, number>();
  /** Changes are told one after the other. */
  #telling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ session, newId, cacheFolder, onProblem }: ZooKeeperConfigurationOptions) {
    this.#session = session;
    this.#onProblem = onProblem;
    this.#entries = new EntryStore(session, newId);
    this.#lastKnown = new LastKnown({ onProblem, ...(cacheFolder !== undefined && { folder: cacheFolder }) });
    this.#changes = new ChangeLog({
      session,
      onChange: (path) => this.#soon(() => this.#tell(path)),
      onGap: () => this.#soon(() => this.#compareAll()),
      onProblem,
    });
    this.#stopListening = session.listen(({ kind }) => {
      if (kind === 'connected') this.#soon(() => this.#compareOld());
    });
  }

  /** Resolves when what was read is in the cache folder. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    this.#changes.close();
    await this.#telling;
    await this.#lastKnown.settled();
  }

  async get(path: string): Promise<ConfigurationEntry | undefined> {
    checkPath(path);
    const answer = await this.#orElse(
      () => this.#read(path),
      () => this.#oldEntry(path),
    );
    if (answer.kind === 'done') return { value: new Uint8Array(answer.value.value), version: answer.value.version };
    if (answer.kind === 'absent') return undefined;
    throw new ConfigurationUnavailable(path, explain(answer));
  }

  async put(path: string, value: Uint8Array, expectedVersion: number): Promise<PutResult> {
    checkPath(path);
    checkValue(path, value);
    // Not `slice`, which of a Buffer is no copy.
    const copy = new Uint8Array(value);
    const result = await this.#entries.put(path, copy, expectedVersion);
    if (result.kind === 'conflict' && 'version' in result) return result;
    if (result.kind !== 'done') {
      const maybeDone = result.kind === 'unavailable' && result.maybeDone;
      throw new ConfigurationUnavailable(path, explain(result), maybeDone);
    }
    this.#keepEntry(path, { value: copy, version: result.version });
    // Who watches here hears of it before the put is answered, as if the entry were of this process alone.
    await this.#changes.refresh();
    await this.#telling;
    await this.#changes.trim();
    return result;
  }

  async children(path: string): Promise<readonly string[]> {
    checkPath(path);
    const key = this.#key('children', path);
    const answer = await this.#orElse<readonly string[]>(
      async () => {
        const found = await this.#session.children(nodeOf(path));
        if (found.kind !== 'done' && found.kind !== 'absent') return found;
        const names = found.kind === 'done' ? found.value.names.map(partOf).sort() : [];
        // Names that don't exist are not remembered: they come from outside, and there is no end of them.
        if (names.length > 0) this.#lastKnown.keep(key, Buffer.from(JSON.stringify(names)));
        return { kind: 'done', value: names };
      },
      async () => {
        const names = await this.#lastKnown.find(key);
        return names && (JSON.parse(Buffer.from(names).toString()) as string[]);
      },
    );
    if (answer.kind === 'done') return answer.value;
    throw new ConfigurationUnavailable(path, explain(answer));
  }

  watch(path: string, listener: (changed: string) => void): () => void {
    checkPath(path);
    return this.#watchers.watch(path, listener);
  }

  /** Asks the servers, or answers what is last known. */
  async #orElse<T>(ask: () => Promise<Answer<T>>, old: () => Promise<T | undefined>): Promise<Answer<T>> {
    if (!this.#session.isConnected) {
      const known = await old();
      // Connected meanwhile: what is answered as old now would be compared with nothing.
      if (known !== undefined && !this.#session.isConnected) return { kind: 'done', value: known };
      await this.#session.connected(this.#session.operationTimeoutMs);
    }
    const answer = await ask();
    if (answer.kind === 'done' || answer.kind === 'absent') return answer;
    if (answer.kind === 'refused') this.#onProblem(answer.cause);
    const known = await old();
    return known === undefined ? answer : { kind: 'done', value: known };
  }

  async #read(path: string): Promise<Answer<StoredEntry>> {
    const answer = await this.#entries.read(path);
    if (answer.kind !== 'done') return answer;
    if (this.#seen.size >= maxSeen) this.#seen.clear();
    this.#seen.set(path, answer.value.nodeVersion);
    this.#answeredOld.delete(path);
    this.#keepEntry(path, answer.value);
    return answer;
  }

  #keepEntry(path: string, { value, version }: ConfigurationEntry): void {
    this.#lastKnown.keep(this.#key('entry', path), Buffer.concat([Buffer.from(`${version}\n`), value]));
  }

  async #oldEntry(path: string): Promise<StoredEntry | undefined> {
    const kept = await this.#lastKnown.find(this.#key('entry', path));
    if (!kept) return undefined;
    const end = kept.indexOf(0x0a);
    const version = Number(Buffer.from(kept.subarray(0, end)).toString());
    this.#answeredOld.set(path, version);
    return { value: new Uint8Array(kept.subarray(end + 1)), version, nodeVersion: 0 };
  }

  #key(kind: 'entry' | 'children', path: string): string {
    return `${kind} ${this.#session.root} ${path}`;
  }

  #soon(act: () => Promise<void>): void {
    this.#telling = this.#telling.then(() => (this.#isClosed ? undefined : act()));
  }

  async #tell(path: string): Promise<void> {
    // What is last known is to be what was last told, when ZooKeeper goes away between this and the next read.
    if (await this.#lastKnown.find(this.#key('entry', path))) await this.#read(path);
    this.#watchers.changed(path);
  }

  async #compareOld(): Promise<void> {
    for (const [path, version] of [...this.#answeredOld]) {
      const answer = await this.#read(path);
      if (answer.kind === 'done' && answer.value.version !== version) this.#watchers.changed(path);
      if (answer.kind === 'unavailable') return;
      this.#answeredOld.delete(path);
    }
  }

  /** Tells of each entry that is another one than when it was read, and of those that were never read. */
  async #compareAll(): Promise<void> {
    const ways = [''];
    for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
      const node = await this.#session.children(way === '' ? treePath : nodeOf(way));
      if (node.kind === 'absent') continue;
      // The next connection brings another reading of the log, with the same gap.
      if (node.kind !== 'done') return this.#changes.forget();
      const { names, stat } = node.value;
      for (const name of names) ways.push(way === '' ? partOf(name) : `${way}/${partOf(name)}`);
      if (stat.bytes > 0 && this.#seen.get(way) !== stat.version) await this.#tell(way);
    }
  }
}
