// One pass over the ready entries of several shards, merged into one order: by level, then by order of submission.
//
// Owns the entries that were read and not yet taken: at most a page for each shard.
//
// Invariants:
//   P1  An entry is given out only when no shard can still have one that goes before it: each shard has an entry here or has
//       none any more.
//   P2  `waiting` is the set of levels of the entries here. By P1 its first level is the first that waits anywhere.

/** What orders ready runs. */
export interface Ranked {
  readonly control: { readonly level: number; readonly order: number };
}

/** A request for the next page of a shard. */
export interface Need<Position> {
  readonly shard: number;
  readonly after?: Position;
}

interface Source<Hit, Position> {
  readonly shard: number;
  hits: readonly Hit[];
  /** Index of the first hit that was not taken. */
  head: number;
  /** Where the next page begins; `end` when there is none. */
  next: { readonly after?: Position } | 'end';
}

const levels = 9;

export class ScanPlan<Hit extends Ranked, Position> {
  readonly #sources: ReadonlyArray<Source<Hit, Position>>;
  readonly #perLevel: number[] = Array.from({ length: levels + 1 }, () => 0);
  #found = 0;

  /** Each page of a shard is in the order of its ready index. Equal ranks keep the order of `shards`. */
  constructor(shards: readonly number[]) {
    this.#sources = shards.map((shard) => ({ shard, hits: [], head: 0, next: {} }));
  }

  /** Pages that must be added before anything can be taken (P1). */
  needs(): ReadonlyArray<Need<Position>> {
    const needs: Array<Need<Position>> = [];
    for (const { shard, hits, head, next } of this.#sources) {
      if (head === hits.length && next !== 'end') needs.push({ shard, ...next });
    }
    return needs;
  }

  /** Adds the page that was needed. Without `next` the shard ends with it; so does one that can't be read now, with no hits. */
  add(shard: number, hits: readonly Hit[], next?: Position): void {
    const source = this.#sources.find((each) => each.shard === shard);
    if (!source || source.head < source.hits.length)
      throw new Error(`invariant P1: no page of shard ${shard} is needed`);
    source.hits = hits;
    source.head = 0;
    source.next = next === undefined ? 'end' : { after: next };
    this.#found += hits.length;
    for (const { control } of hits) this.#count(control.level, 1);
  }

  /** The entry that goes first; undefined while pages are needed, and when nothing is left. */
  first(): Hit | undefined {
    return this.#first()?.hit;
  }

  /** Takes the entry that `first` answers. */
  take(): void {
    const first = this.#first();
    if (!first) throw new Error('invariant P1: there is nothing to take');
    first.source.head++;
    this.#count(first.hit.control.level, -1);
  }

  /** Nothing is left, here or in the store. */
  get finished(): boolean {
    return this.#sources.every(({ hits, head, next }) => head === hits.length && next === 'end');
  }

  /** Entries that were read so far. */
  get found(): number {
    return this.#found;
  }

  /** Bit n - 1 is set when an entry of level n is here. */
  get waiting(): number {
    let bits = 0;
    for (let level = 1; level <= levels; level++) if ((this.#perLevel[level] ?? 0) > 0) bits |= 1 << (level - 1);
    return bits;
  }

  #first(): { source: Source<Hit, Position>; hit: Hit } | undefined {
    let first: { source: Source<Hit, Position>; hit: Hit } | undefined;
    for (const source of this.#sources) {
      const hit = source.hits[source.head];
      if (hit === undefined && source.next !== 'end') return undefined;
      if (hit !== undefined && (first === undefined || ranksBefore(hit, first.hit))) first = { source, hit };
    }
    return first;
  }

  #count(level: number, change: number): void {
    this.#perLevel[level] = (this.#perLevel[level] ?? 0) + change;
  }
}

function ranksBefore({ control: left }: Ranked, { control: right }: Ranked): boolean {
  return left.level === right.level ? left.order < right.order : left.level < right.level;
}
