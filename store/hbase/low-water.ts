// Where a scan of the index begins. What was taken from the head of an index leaves tombstones there until the next major
// compaction, and a scan walks over all of them: 40,000 cost 138 ms. So a scan begins at the low water: the first entry that any scan
// of the last while found there.
//
// Owns the low waters of one kind in one shard, one for each of its parts (a level of ready entries, or all of a timed kind).
//
// Invariants:
//   W1  An entry that this process writes is never below the low water of its part: that drops to it before the write goes out.
//   W2  What others write below it is found by the next scan from the very beginning. Those are made so often that they cost at most
//       a fiftieth of the time, and at least every `maxHiddenMs`: for so long an entry can stay hidden.
//   W3  While scans from the beginning are quick, all are such: then nothing is ever hidden. One that is slow between quick ones counts
//       for nothing: a server that is away for a while has made it so, not tombstones.

import type { Clock } from '../../platform/clock/clock.ts';

export interface LowWaterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Longest time for which an entry can stay hidden, in ms. 60 s: still soon beside what waits in a shard with so many tombstones. */
  readonly maxHiddenMs: number;
  /** A scan from the beginning that wastes less than this, in ms, is quick. 20 ms: some 5,000 tombstones. */
  readonly quickMs: number;
}

/** Share of the time that scans from the beginning may take. */
const restFactor = 50;

/** How long an entry that was first in its part keeps the low water down, in ms: the time between two writes that overtake each other. */
const keepMs = 30_000;

/** Reading an entry itself takes so long, in ms. What a scan takes beyond that is waste. */
const msPerEntry = 0.05;

interface Part {
  /** First row of the part. */
  readonly begin: Buffer;
  /** End of the part, exclusive. */
  readonly end: Buffer;
  /** The lowest first entry that was seen in the present period, and in the one before. */
  present: Buffer | undefined;
  former: Buffer | undefined;
  periodBeganMs: number;
}

export interface ScanRange {
  readonly begin: Buffer;
  readonly end: Buffer;
}

export class LowWater {
  readonly #parts: readonly Part[];
  readonly #options: LowWaterOptions;
  /** Of the scans from the beginning, the present one and the one before. */
  #wasteMs = 0;
  #formerWasteMs = 0;
  #wholeBeganMs = Number.NEGATIVE_INFINITY;

  /** `parts` in their order, without a gap. */
  constructor(parts: readonly ScanRange[], options: LowWaterOptions) {
    this.#options = options;
    this.#parts = parts.map(({ begin, end }) => ({
      begin,
      end,
      present: undefined,
      former: undefined,
      periodBeganMs: options.clock.monotonicMs(),
    }));
  }

  /** What a scan that begins now reads: ranges in their order, all of them from the very beginning (`isWhole`) or from the low waters. */
  begin(): { readonly ranges: readonly ScanRange[]; readonly isWhole: boolean } {
    const nowMs = this.#options.clock.monotonicMs();
    const wasteMs = Math.min(this.#wasteMs, this.#formerWasteMs);
    const restMs = Math.min(this.#options.maxHiddenMs, wasteMs * restFactor);
    if (wasteMs <= this.#options.quickMs || nowMs - this.#wholeBeganMs >= restMs) {
      this.#wholeBeganMs = nowMs;
      this.#formerWasteMs = this.#wasteMs;
      this.#wasteMs = 0;
      return { ranges: this.#whole(), isWhole: true };
    }
    // A part where nothing was ever seen would be walked from its beginning. What comes before all that was seen is worth it, since it
    // is the most urgent; the rest is for the scans that see everything.
    const firstSeen = this.#parts.findIndex(({ present, former }) => present ?? former);
    const ranges = this.#parts.flatMap((part, index) => {
      const begin = lowest(part.present, part.former) ?? (index < firstSeen ? part.begin : undefined);
      return begin ? [{ begin, end: part.end }] : [];
    });
    return { ranges, isWhole: false };
  }

  #whole(): readonly ScanRange[] {
    const first = this.#parts[0];
    const last = this.#parts.at(-1);
    return first && last ? [{ begin: first.begin, end: last.end }] : [];
  }

  /** A scan from the beginning took `tookMs` for `entries`; called for each of its batches. */
  took(tookMs: number, entries: number): void {
    this.#wasteMs += Math.max(0, tookMs - entries * msPerEntry);
  }

  /** Entries that a scan found one after the other. */
  seen(rows: readonly Buffer[]): void {
    let partOf: Part | undefined;
    for (const row of rows) {
      if (partOf && isIn(partOf, row)) continue;
      partOf = this.#partOf(row);
      if (partOf) this.#lower(partOf, row);
    }
  }

  /** This process is about to write an entry. */
  written(row: Buffer): void {
    const part = this.#partOf(row);
    if (!part) return;
    // Where nothing was seen yet there may be others before it.
    this.#lower(part, lowest(part.present, part.former) ? row : part.begin);
  }

  #lower(part: Part, row: Buffer): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - part.periodBeganMs >= keepMs) {
      part.former = part.present;
      part.present = undefined;
      part.periodBeganMs = nowMs;
    }
    part.present = lowest(part.present, row);
  }

  #partOf(row: Buffer): Part | undefined {
    return this.#parts.find((part) => isIn(part, row));
  }
}

function isIn({ begin, end }: ScanRange, row: Buffer): boolean {
  return begin.compare(row) <= 0 && row.compare(end) < 0;
}

function lowest(one: Buffer | undefined, other: Buffer | undefined): Buffer | undefined {
  if (!one || !other) return one ?? other;
  return one.compare(other) <= 0 ? one : other;
}
