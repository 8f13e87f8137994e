// Entries of the configuration as they are on the servers: read whole, changed by compare-and-set.
//
// Invariants:
//   S1  A put is one transaction: the entry, the nodes on the way to it and the word in the log of changes. So a node without data
//       is always the way to an entry.
//   S2  It is conditional on the node's version, or on its absence. Sent again, because its answer was lost, it has the same condition
//       and the same writer: at most one sending takes effect, and the entry names its writers.
//   S3  Nodes are at version 1 or higher from the transaction that makes them, since 0 can't be compared in one (node.ts).

import type { PutResult } from '../configuration.ts';
import { type Answer, done, type Problem, unavailable } from './answer.ts';
import { changePrefix } from './change-log.ts';
import { readChunks, sweepChunks, writeChunks } from './chunks.ts';
import { type EntryHead, isWhole, maxInlineBytes, nextEntry, readEntry } from './configuration-node.ts';
import { nodeOf, treePath } from './configuration-tree.ts';
import type { Node, Operation } from './node.ts';
import type { ZooKeeperSession } from './session.ts';

const limits = {
  /** Time for one put in ms, over lost answers and reconnects. */
  putMs: 20_000,
  /** Others may come first this often: each of them has changed the entry. */
  maxTries: 50,
  /** Readings of an entry whose chunks are gone, since it has changed meanwhile. */
  maxReadings: 5,
} as const;

export interface StoredEntry {
  readonly value: Uint8Array;
  /** The port's version. */
  readonly version: number;
  /** The node's. */
  readonly nodeVersion: number;
}

/** What a node is now; `head` undefined when it holds no entry. */
interface Found {
  readonly node: Node | undefined;
  readonly head: EntryHead | undefined;
}

export class EntryStore {
  readonly #session: ZooKeeperSession;
  readonly #newId: () => string;

  /** `newId`: unique, of [A-Za-z0-9_-]. */
  constructor(session: ZooKeeperSession, newId: () => string) {
    this.#session = session;
    this.#newId = newId;
  }

  /** `absent` when there is no entry; `refused` when what is there was not written by a put. */
  async read(path: string): Promise<Answer<StoredEntry>> {
    for (let reading = 0; reading < limits.maxReadings; reading++) {
      const node = await this.#session.read(nodeOf(path));
      if (node.kind !== 'done') return node;
      if (node.value.data.length === 0) return { kind: 'absent' };
      const entry = readEntry(node.value.data);
      if (!entry) return damaged(path);
      const { head } = entry;
      const found = { version: head.version, nodeVersion: node.value.stat.version };
      if (entry.value) return done({ ...found, value: entry.value });
      const value = await readChunks(this.#session, path, head.chunks ?? '', head.bytes);
      if (value.kind === 'done') {
        return isWhole(head, value.value) ? done({ ...found, value: value.value }) : damaged(path);
      }
      if (value.kind !== 'absent') return value;
    }
    return { kind: 'refused', cause: `the chunks of ${path} are missing` };
  }

  /** Compare-and-set. */
  async put(path: string, value: Uint8Array, expectedVersion: number): Promise<PutResult | Problem> {
    const writer = this.#newId();
    const untilMs = this.#session.clock.monotonicMs() + limits.putMs;
    const isLarge = value.length > maxInlineBytes;
    let chunks: string | undefined;
    let maybeDone = false;
    for (let tries = 0; tries < limits.maxTries; tries++) {
      const remainingMs = this.#patienceMs(untilMs, maybeDone);
      if (remainingMs <= 0 || !(await this.#session.connected(remainingMs))) {
        return unavailable('ZooKeeper does not answer', maybeDone);
      }
      const found = await this.#find(path, expectedVersion);
      if (found.kind === 'unavailable') continue;
      if (found.kind !== 'done') return found;
      const { head, node } = found.value;
      if (head?.writers.includes(writer)) return { kind: 'done', version: expectedVersion + 1 };
      const version = head?.version ?? 0;
      if (version !== expectedVersion) return { kind: 'conflict', version };
      if (isLarge && chunks === undefined) {
        const set = this.#newId();
        const wrote = await writeChunks(this.#session, path, set, value);
        // Under another name the next time: this set may be there in part.
        if (wrote.kind === 'unavailable') continue;
        if (wrote.kind !== 'done') return wrote;
        chunks = set;
      }
      const answer = await this.#write(path, node, nextEntry(head, writer, value, chunks));
      if (answer.kind === 'done') {
        if (isLarge) await sweepChunks(this.#session, path, chunks);
        return { kind: 'done', version: expectedVersion + 1 };
      }
      if (answer.kind === 'refused') return answer;
      if (answer.kind === 'unavailable' && answer.maybeDone) maybeDone = true;
    }
    return unavailable('too many others change what lies on the way to it', maybeDone);
  }

  /** Without a connection, whoever waits is told soon; only what may be done already is worth all the time to find out. */
  #patienceMs(untilMs: number, maybeDone: boolean): number {
    const remainingMs = untilMs - this.#session.clock.monotonicMs();
    return maybeDone ? remainingMs : Math.min(remainingMs, this.#session.operationTimeoutMs);
  }

  /** The node, at `expectedVersion` or whatever newer is to be seen: a server may be behind the others. */
  async #find(path: string, expectedVersion: number): Promise<Answer<Found>> {
    const first = await this.#look(path);
    if (first.kind !== 'done' || (first.value.head?.version ?? 0) >= expectedVersion) return first;
    const synced = await this.#session.sync();
    return synced.kind === 'done' ? this.#look(path) : synced;
  }

  async #look(path: string): Promise<Answer<Found>> {
    const node = await this.#session.read(nodeOf(path));
    if (node.kind === 'absent') return done({ node: undefined, head: undefined });
    if (node.kind !== 'done') return node;
    if (node.value.data.length === 0) return done({ node: node.value, head: undefined });
    const entry = readEntry(node.value.data);
    return entry ? done({ node: node.value, head: entry.head }) : damaged(path);
  }

  async #write(path: string, node: Node | undefined, data: Uint8Array): Promise<Answer<unknown>> {
    const at = nodeOf(path);
    const change: Operation = { kind: 'create', path: changePrefix, data: Buffer.from(path), mode: 'sequential' };
    if (node === undefined) {
      const missing = await this.#missingAbove(at);
      if (missing.kind !== 'done') return missing;
      const way = missing.value.flatMap((each) => makeNode(each, new Uint8Array(0)));
      return this.#session.change([...way, ...makeNode(at, data), change]);
    }
    // Made by hand: its version is raised, and the next try can compare it.
    if (node.stat.version === 0) {
      const raised = await this.#session.write(at, node.data, 0);
      return raised.kind === 'done' ? { kind: 'conflict' } : raised;
    }
    return this.#session.change([{ kind: 'write', path: at, data, version: node.stat.version }, change]);
  }

  /** The nodes between an entry's and the tree's that don't exist, the uppermost first. */
  async #missingAbove(at: string): Promise<Answer<readonly string[]>> {
    const missing: string[] = [];
    for (let above = parentOf(at); above !== treePath; above = parentOf(above)) {
      const node = await this.#session.children(above);
      if (node.kind === 'done') return done(missing);
      if (node.kind !== 'absent') return node;
      missing.unshift(above);
    }
    const tree = await this.#session.ensure(treePath);
    return tree.kind === 'done' ? done(missing) : tree;
  }
}

function makeNode(path: string, data: Uint8Array): Operation[] {
  return [
    { kind: 'create', path, data: new Uint8Array(0), mode: 'persistent' },
    { kind: 'write', path, data, version: -1 },
  ];
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function damaged(path: string): Problem {
  return { kind: 'refused', cause: `what is at ${nodeOf(path)} was not written by Weir or is damaged` };
}
