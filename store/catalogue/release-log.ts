// Releases of named documents in the configuration: one entry per name, the present release and those before it.
//
//   <root>/<name>/releases   weir.flow.v1.ReleaseHistory
//
// Ownership: the entry is written here only. What is in memory is a copy of the present release, forgotten when the entry changes.
//
// Invariants:
//   R1  A release is one compare-and-set of one entry: whoever reads the entry afterwards reads the new release.
//   R2  The numbers of a name's releases rise by one; a rollback is a release too.
//   R3  A copy that was read before a change is never kept after it.

import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Configuration } from '../../platform/coordination/configuration.ts';
import {
  type Release,
  type ReleaseHistory,
  ReleaseHistorySchema,
  ReleaseSchema,
} from '../../proto/gen/weir/flow/v1/releases_pb.js';
import type { Audit } from './audit.ts';

const historyLimits = {
  /** Releases that can be brought back. */
  maxReleases: 100,
  /** Of the entry: long lists of keys shorten the history. The entry of a narrow configuration store has 1 MB. */
  maxBytes: 480_000,
} as const;

export type Released =
  | { readonly kind: 'done'; readonly release: Release; readonly previous: Release | undefined }
  /** The present release isn't the one the author has seen. */
  | { readonly kind: 'conflict'; readonly current: Release | undefined }
  /** No such release is kept, or nothing was released before the present one. */
  | { readonly kind: 'no such release'; readonly kept: readonly number[] };

/** What a release says, before it has a number, a time and an author. */
export type ReleaseContent = Pick<MessageInitShape<typeof ReleaseSchema> & object, 'version' | 'gray' | 'restores'>;

type Decision = { readonly kind: 'release'; readonly content: ReleaseContent } | Exclude<Released, { kind: 'done' }>;

export class ReleaseLog {
  readonly #configuration: Configuration;
  readonly #clock: Clock;
  readonly #root: string;
  readonly #current = new Map<string, Release>();
  /** Rises with each change seen (R3). */
  #changes = 0;
  readonly #unwatch: () => void;

  constructor(configuration: Configuration, clock: Clock, root: string) {
    this.#configuration = configuration;
    this.#clock = clock;
    this.#root = root;
    this.#unwatch = configuration.watch(root, (changed) => {
      const [, name, what] = changed.split('/');
      if (name === undefined || what !== 'releases') return;
      this.#changes++;
      this.#current.delete(name);
    });
  }

  close(): void {
    this.#unwatch();
  }

  /** The present release. The same object until there is another one. */
  async current(name: string): Promise<Release | undefined> {
    const known = this.#current.get(name);
    if (known) return known;
    const changes = this.#changes;
    const { history } = await this.#read(name);
    const release = history.releases.at(-1);
    // Names that don't exist are not remembered: they come from outside, and there is no end of them.
    if (release && changes === this.#changes) this.#current.set(name, release);
    return release;
  }

  /** Those that are kept, the newest first. */
  async history(name: string): Promise<readonly Release[]> {
    const { history } = await this.#read(name);
    return history.releases.toReversed();
  }

  /**
   * Releases what `content` makes of the present release. `expected` is the number of the release that the author has seen, 0
   * for none; absent, whatever is there is replaced.
   */
  release(
    name: string,
    content: (current: Release | undefined) => ReleaseContent,
    audit: Audit,
    expected?: number,
  ): Promise<Released> {
    return this.#append(name, audit, expected, ({ releases }) => {
      return { kind: 'release', content: content(releases.at(-1)) };
    });
  }

  /** Brings back release `number`, or the one before what is in use when it is 0. */
  rollback(name: string, number: number, audit: Audit, expected?: number): Promise<Released> {
    return this.#append(name, audit, expected, ({ releases }) => {
      const current = releases.at(-1);
      // What a rollback has left behind is not what the next one wants: it goes on from the release that was brought back.
      const inUse = current?.restores || current?.number || 0;
      const target = releases.findLast((each) => (number === 0 ? each.number < inUse : each.number === number));
      if (!target) return { kind: 'no such release', kept: releases.map((each) => each.number) };
      const { version, gray } = target;
      const restores = target.restores || target.number;
      return { kind: 'release', content: { version, restores, ...(gray && { gray }) } };
    });
  }

  async #append(
    name: string,
    { author, comment }: Audit,
    expected: number | undefined,
    decide: (history: ReleaseHistory) => Decision,
  ): Promise<Released> {
    for (;;) {
      const { history, entryVersion } = await this.#read(name);
      const current = history.releases.at(-1);
      const number = current?.number ?? 0;
      if (expected !== undefined && expected !== number) return { kind: 'conflict', current };
      const decision = decide(history);
      if (decision.kind !== 'release') return decision;
      const releasedAt = timestampFromMs(this.#clock.nowMs());
      const release = create(ReleaseSchema, {
        ...decision.content,
        ...{ number: number + 1, releasedAt, author, comment },
      });
      const value = encode(history, [...history.releases, release]);
      const put = await this.#configuration.put(this.#path(name), value, entryVersion);
      if (put.kind === 'done') {
        this.#current.delete(name);
        return { kind: 'done', release, previous: current };
      }
      // Somebody else released first: look again, which ends in a conflict when the author expected a release.
    }
  }

  async #read(name: string): Promise<{ history: ReleaseHistory; entryVersion: number }> {
    const entry = await this.#configuration.get(this.#path(name));
    if (!entry) return { history: create(ReleaseHistorySchema), entryVersion: 0 };
    return { history: fromBinary(ReleaseHistorySchema, entry.value), entryVersion: entry.version };
  }

  #path(name: string): string {
    return `${this.#root}/${name}/releases`;
  }
}

/** Drops the oldest until the rest fits. What a newer version knows of the whole history stays. */
function encode({ $unknown }: ReleaseHistory, releases: readonly Release[]): Uint8Array {
  for (let kept = releases.slice(-historyLimits.maxReleases); ; kept = kept.slice(1)) {
    const history = create(ReleaseHistorySchema, { releases: kept });
    if ($unknown) history.$unknown = $unknown;
    const value = toBinary(ReleaseHistorySchema, history);
    if (value.length <= historyLimits.maxBytes || kept.length === 1) return value;
  }
}
