// Versions of named documents in the configuration, each written once:
//
//   <root>/<name>/versions/<n>
//
// Invariants:
//   V1  Version numbers of a name begin at 1 and have no gaps: a version is created only where none is (compare-and-set).
//   V2  A version never changes.

import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Configuration } from '../../platform/coordination/configuration.ts';

/** Versions of one document. What changes more often is generated, and wants one version with parameters in its fields. */
const maxVersions = 10_000;

/** What every version has, whatever its document is. */
interface Version {
  readonly version: number;
  readonly hash: Uint8Array;
  readonly author: string;
  readonly pushedAt?: Timestamp | undefined;
}

export type PushResult =
  | { readonly kind: 'done'; readonly version: number; readonly created: boolean }
  /** The newest version isn't the one the author has seen. */
  | ({ readonly kind: 'conflict' } & NewestVersion);

/** 0, by nobody, when there is none. */
export interface NewestVersion {
  readonly newest: number;
  readonly author: string;
  /** In ms since 1970. */
  readonly atMs: number;
}

export class VersionLog<Schema extends DescMessage> {
  readonly #configuration: Configuration;
  readonly #root: string;
  readonly #schema: Schema;
  readonly #version: (message: MessageShape<Schema>) => Version;

  /** `view`: where a message of the schema has what every version has. */
  constructor(
    configuration: Configuration,
    root: string,
    schema: Schema,
    view: (message: MessageShape<Schema>) => Version,
  ) {
    this.#configuration = configuration;
    this.#root = root;
    this.#schema = schema;
    this.#version = view;
  }

  /** Stores `make(n)` as the next version, unless one with the same hash is there. Throws when there are too many. */
  async push(
    name: string,
    hash: Uint8Array,
    make: (version: number) => MessageShape<Schema>,
    expectedNewest?: number,
  ): Promise<PushResult> {
    for (;;) {
      const newest = await this.newest(name);
      if (expectedNewest !== undefined && expectedNewest !== newest) return this.#conflict(name, newest);
      const same = await this.#withHash(name, newest, hash);
      if (same !== undefined) return { kind: 'done', version: same, created: false };
      const version = newest + 1;
      if (version > maxVersions) throw new Error(`${name} has ${newest} versions, ${maxVersions} are allowed`);
      const value = toBinary(this.#schema, make(version));
      const put = await this.#configuration.put(this.#path(name, version), value, 0);
      if (put.kind === 'done') return { kind: 'done', version, created: true };
      // Somebody else pushed this number first: look again, which ends in a conflict when the author expected a version.
    }
  }

  async get(name: string, version: number): Promise<MessageShape<Schema> | undefined> {
    const entry = await this.#configuration.get(this.#path(name, version));
    return entry && fromBinary(this.#schema, entry.value);
  }

  /** The newest version; 0 when there is none. */
  async newest(name: string): Promise<number> {
    const versions = await this.#configuration.children(`${this.#root}/${name}/versions`);
    return versions.reduce((newest, version) => Math.max(newest, Number(version)), 0);
  }

  async #conflict(name: string, newest: number): Promise<PushResult> {
    const stored = newest === 0 ? undefined : await this.get(name, newest);
    if (!stored) return { kind: 'conflict', newest, author: '', atMs: 0 };
    const { author, pushedAt } = this.#version(stored);
    return { kind: 'conflict', newest, author, atMs: pushedAt ? timestampMs(pushedAt) : 0 };
  }

  async #withHash(name: string, newest: number, hash: Uint8Array): Promise<number | undefined> {
    for (let version = newest; version > 0; version--) {
      const stored = await this.get(name, version);
      if (stored && Buffer.compare(this.#version(stored).hash, hash) === 0) return version;
    }
    return undefined;
  }

  #path(name: string, version: number): string {
    return `${this.#root}/${name}/versions/${version}`;
  }
}
