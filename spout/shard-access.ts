// The way to the store, shard by shard: a shard that fails rests for a while, and the others don't wait for it.
//
// Owns the set of our shards and the memory of those that failed.
//
// Invariants:
//   A1  A resting shard isn't asked. Its rest grows with each failure in a row, up to `maxBackoffMs`.
//   A2  Once stopped the store isn't asked any more, so that every walk ends.
//   A3  A shard that isn't ours isn't asked, and what is read of one that went to another meanwhile is dropped: from the moment
//       in which a shard is given up nothing of it is offered here (core/hand-over.ts).

import type { IndexHit, IndexKind, ScanPage, ScanPosition } from '../store/port.ts';
import type { SpoutPorts } from './ports.ts';
import type { SpoutSettings } from './settings.ts';

interface Failing {
  readonly failures: number;
  readonly restUntilMs: number;
}

export class ShardAccess {
  readonly #ports: SpoutPorts;
  readonly #settings: SpoutSettings;
  readonly #failing = new Map<number, Failing>();
  #own: readonly number[] = [];
  #isOwn: ReadonlySet<number> = new Set();
  /** Calls of the store that failed since the start. */
  errors = 0;
  #stopped = false;

  constructor(ports: SpoutPorts, settings: SpoutSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  /** The shards that this spout scans, ascending. */
  get own(): readonly number[] {
    return this.#own;
  }

  set own(shards: readonly number[]) {
    this.#own = shards;
    this.#isOwn = new Set(shards);
  }

  isOwn(shard: number): boolean {
    return this.#isOwn.has(shard);
  }

  /** A pause, in ms, varied by a quarter, so that spouts that started together don't go on in step. */
  jittered(pauseMs: number): number {
    return pauseMs * (0.75 + this.#ports.random() / 2);
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Calls the store about a shard. Undefined when that fails, which is told, when the shard rests or isn't ours, or we are stopped. */
  async attempt<Answer>(
    shard: number,
    doing: string,
    call: () => Promise<Answer>,
  ): Promise<{ answer: Answer } | undefined> {
    const { clock } = this.#ports;
    const before = this.#failing.get(shard);
    if (this.#stopped || !this.isOwn(shard) || (before && clock.monotonicMs() < before.restUntilMs)) return undefined;
    try {
      const answer = await call();
      this.#failing.delete(shard);
      return { answer };
    } catch (error) {
      const failures = (before?.failures ?? 0) + 1;
      const { firstBackoffMs, maxBackoffMs } = this.#settings;
      const restMs = this.jittered(Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1)));
      this.#failing.set(shard, { failures, restUntilMs: clock.monotonicMs() + restMs });
      this.failed(error, `${doing} of shard ${shard}`);
      return undefined;
    }
  }

  /** Counts and tells a call of the store that failed. */
  failed(error: unknown, doing: string): void {
    this.errors++;
    this.#ports.onError(error, doing);
  }

  /** One page of a shard's index. */
  async page(
    shard: number,
    kind: IndexKind,
    place: { untilMs?: number; after?: ScanPosition },
  ): Promise<ScanPage | undefined> {
    const request = { shard, kind, ...place, limit: this.#settings.pageEntries };
    const page = await this.attempt(shard, `scanning ${kind} entries`, () => this.#ports.store.scan(request));
    return this.isOwn(shard) ? page?.answer : undefined;
  }

  /**
   * Shows `visit` all entries of a shard, page by page. Ends with the index, since a scan only goes forward. Answers whether the
   * end was reached.
   */
  async walk(
    shard: number,
    kind: IndexKind,
    untilMs: number | undefined,
    visit: (hits: readonly IndexHit[]) => Promise<void>,
  ): Promise<boolean> {
    const until = untilMs === undefined ? {} : { untilMs };
    let after: ScanPosition | undefined;
    for (;;) {
      const page = await this.page(shard, kind, { ...until, ...(after !== undefined && { after }) });
      if (!page) return false;
      await visit(page.hits);
      if (page.next === undefined) return true;
      after = page.next;
    }
  }
}
