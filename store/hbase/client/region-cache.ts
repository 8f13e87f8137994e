// Where rows are, as far as known. It may be wrong at any time: the server that is asked tells.
//
// It owns what is known. Per table the regions are sorted by their first row, and no two of them overlap.

import type { Region } from './port.ts';

export class RegionCache {
  readonly #tables = new Map<string, Region[]>();

  /** The region that holds the row. */
  find(table: string, row: Buffer): Region | undefined {
    const regions = this.#tables.get(table) ?? [];
    const region = regions[firstAfter(regions, row) - 1];
    return region !== undefined && isBefore(row, region.endRow) ? region : undefined;
  }

  /** The region that ends where `row` begins: what comes next from high rows to low. */
  findEndingAt(table: string, row: Buffer): Region | undefined {
    return this.#tables.get(table)?.find((region) => region.endRow.equals(row));
  }

  /** Takes the place of all regions that it overlaps. */
  put(region: Region): void {
    const others = (this.#tables.get(region.table) ?? []).filter((other) => !overlap(other, region));
    others.splice(firstAfter(others, region.startRow), 0, region);
    this.#tables.set(region.table, others);
  }

  drop(region: Region): void {
    const regions = this.#tables.get(region.table);
    if (regions !== undefined) this.#keep(region.table, regions, (other) => !other.name.equals(region.name));
  }

  /** All that is known to be at a server. */
  dropServer(address: string): void {
    for (const [table, regions] of this.#tables) this.#keep(table, regions, (region) => region.address !== address);
  }

  dropTable(table: string): void {
    this.#tables.delete(table);
  }

  #keep(table: string, regions: readonly Region[], isKept: (region: Region) => boolean): void {
    const kept = regions.filter(isKept);
    if (kept.length > 0) this.#tables.set(table, kept);
    else this.#tables.delete(table);
  }
}

function firstAfter(regions: readonly Region[], row: Buffer): number {
  let low = 0;
  let high = regions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(regions[middle]!.startRow, row) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function overlap(one: Region, other: Region): boolean {
  return isBefore(one.startRow, other.endRow) && isBefore(other.startRow, one.endRow);
}

/** An empty end is the end of the table. */
export function isBefore(row: Buffer, endRow: Buffer): boolean {
  return endRow.length === 0 || Buffer.compare(row, endRow) < 0;
}
