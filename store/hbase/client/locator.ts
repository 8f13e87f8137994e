// Finds the region of a row and the master. One try at a time: whoever asks decides whether to ask again.
//
// It owns the cache of regions and the address of hbase:meta, the catalogue of all regions.
// L1  Nothing it says is sure to be still true; who finds it wrong says so (moved, forget…).
// L2  One row of a table is looked up at a time. Who waits for another's look-up looks whether it helped, and shares its failure.

import { fromBinary } from '@bufbuild/protobuf';
import type { Result, ScanRequest } from '../../../proto/gen/hbase/client_pb.js';
import { RegionInfoSchema, type ServerName } from '../../../proto/gen/hbase/region_pb.js';
import type { Outcome } from './connection.ts';
import type { Connections } from './connections.ts';
import { describe } from './exception-classes.ts';
import { getActiveMaster, getMetaRegionLocations, scan } from './methods.ts';
import type { Region } from './port.ts';
import { RegionCache } from './region-cache.ts';
import { bufferOf, regionSpecifier } from './wire.ts';

export type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'unavailable'; readonly cause: string }
  /** There is no such table, or no such region. */
  | { readonly kind: 'absent'; readonly cause: string };

export interface LocatorOptions {
  /** Of region servers or masters, `host:port`: whom to ask where things are. */
  readonly addresses: readonly string[];
  /** One question to one server. Short, since others can be asked. */
  readonly lookupTimeoutMs: number;
}

const metaRegion = Buffer.from('hbase:meta,,1');
const maxPageRows = 1_000;

export class Locator {
  readonly #connections: Connections;
  readonly #options: LocatorOptions;
  readonly #cache = new RegionCache();
  readonly #lookups = new Map<string, Promise<Found<readonly Result[]>>>();
  #metaAddress: string | undefined;
  #nextAddress = 0;

  constructor(connections: Connections, options: LocatorOptions) {
    this.#connections = connections;
    this.#options = options;
  }

  async locate(table: string, row: Buffer): Promise<Found<Region>> {
    const known = () => this.#cache.find(table, row);
    const region = known();
    if (region !== undefined) return { kind: 'found', value: region };
    // A colon sorts after all digits, so this lies behind every region that starts at or before the row.
    return await this.#lookUp(table, Buffer.concat([Buffer.from(`${table},`), row, Buffer.from(',:')]), known);
  }

  /** The region that ends where `row` begins; an empty row asks for the last one of the table. */
  async locateEndingAt(table: string, row: Buffer): Promise<Found<Region>> {
    const known = () => this.#cache.findEndingAt(table, row);
    const region = known();
    if (region !== undefined) return { kind: 'found', value: region };
    // A row "table-" lies behind all regions of the table: '-' follows ','.
    const from =
      row.length === 0 ? Buffer.from(`${table}-`) : Buffer.concat([Buffer.from(`${table},`), row, Buffer.from(',')]);
    return await this.#lookUp(table, from, known);
  }

  /** All regions of a table as hbase:meta has them now. */
  async locateAll(table: string): Promise<Found<readonly Region[]>> {
    const regions: Region[] = [];
    let from = Buffer.from(`${table},,`);
    for (;;) {
      const page = await this.#scanMeta({ startRow: from, stopRow: Buffer.from(`${table}-`) }, maxPageRows);
      if (page.kind !== 'found') return page;
      regions.push(...page.value.map((result) => regionOf(table, result)).filter((region) => region !== undefined));
      const last = page.value.at(-1)?.cell[0]?.row;
      if (page.value.length < maxPageRows || last === undefined) break;
      from = Buffer.concat([last, Buffer.of(0)]);
    }
    this.#cache.dropTable(table);
    for (const region of regions) this.#cache.put(region);
    return { kind: 'found', value: regions };
  }

  async locateMaster(): Promise<Found<string>> {
    const outcome = await this.#ask((address) =>
      this.#connections.call(address, getActiveMaster, {}, this.#options.lookupTimeoutMs),
    );
    if (outcome.kind !== 'answered') return unavailable('the active master', outcome);
    const address = addressOf(outcome.value.serverName);
    if (address === undefined) return { kind: 'unavailable', cause: 'HBase has no active master now' };
    return { kind: 'found', value: address };
  }

  /** The server says that a region is at another one. */
  moved(region: Region, address: string): void {
    this.#cache.put({ ...region, address });
  }

  forget(region: Region): void {
    this.#cache.drop(region);
  }

  forgetServer(address: string): void {
    this.#cache.dropServer(address);
    if (this.#metaAddress === address) this.#metaAddress = undefined;
  }

  forgetTable(table: string): void {
    this.#cache.dropTable(table);
  }

  async #lookUp(table: string, from: Buffer, known: () => Region | undefined): Promise<Found<Region>> {
    for (let other = this.#lookups.get(table); other !== undefined; other = this.#lookups.get(table)) {
      const found = await other;
      if (found.kind !== 'found') return found;
      const region = known();
      if (region !== undefined) return { kind: 'found', value: region };
    }
    const stopRow = Buffer.from(`${table},,`);
    const lookup = this.#scanMeta({ startRow: from, stopRow, includeStopRow: true, reversed: true }, 1);
    this.#lookups.set(table, lookup);
    const rows = await lookup;
    this.#lookups.delete(table);
    if (rows.kind !== 'found') return rows;
    const [result] = rows.value;
    if (result === undefined) return { kind: 'absent', cause: `HBase has no table "${table}"` };
    const found = regionOf(table, result);
    if (found !== undefined) this.#cache.put(found);
    const region = known();
    if (region !== undefined) return { kind: 'found', value: region };
    return { kind: 'unavailable', cause: `a region of the table "${table}" is on its way` };
  }

  async #scanMeta(range: MetaRange, rows: number): Promise<Found<readonly Result[]>> {
    const meta = await this.#findMeta();
    if (meta.kind !== 'found') return meta;
    const request = {
      region: regionSpecifier(metaRegion),
      numberOfRows: rows,
      limitOfRows: rows,
      closeScanner: true,
      scan: { ...range, caching: rows, column: [{ family: Buffer.from('info') }] },
    };
    const outcome = await this.#connections.call(meta.value, scan, request, this.#options.lookupTimeoutMs);
    if (outcome.kind === 'answered') return { kind: 'found', value: outcome.value.results };
    if (outcome.kind !== 'exception' || outcome.reaction === 'elsewhere') this.#metaAddress = undefined;
    return unavailable('the catalogue', outcome);
  }

  async #findMeta(): Promise<Found<string>> {
    if (this.#metaAddress !== undefined) return { kind: 'found', value: this.#metaAddress };
    const outcome = await this.#ask((address) =>
      this.#connections.call(address, getMetaRegionLocations, {}, this.#options.lookupTimeoutMs),
    );
    if (outcome.kind !== 'answered') return unavailable('the place of hbase:meta', outcome);
    const location = outcome.value.metaLocations.find((meta) => (meta.regionInfo?.replicaId ?? 0) === 0);
    const address = addressOf(location?.serverName);
    if (address === undefined) return { kind: 'unavailable', cause: 'hbase:meta is at no server now' };
    this.#metaAddress = address;
    return { kind: 'found', value: address };
  }

  // One after the other, beginning with the one that answered last.
  async #ask<T>(question: (address: string) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const { addresses } = this.#options;
    let outcome: Outcome<T> = { kind: 'notSent', cause: 'no address to ask' };
    for (let tries = 0; tries < addresses.length; tries += 1) {
      outcome = await question(addresses[this.#nextAddress % addresses.length]!);
      if (outcome.kind === 'answered') return outcome;
      this.#nextAddress = (this.#nextAddress + 1) % addresses.length;
    }
    return outcome;
  }
}

type MetaRange = Pick<NonNullable<ScanRequest['scan']>, 'startRow' | 'stopRow'> &
  Partial<Pick<NonNullable<ScanRequest['scan']>, 'includeStopRow' | 'reversed'>>;

function unavailable(what: string, outcome: Exclude<Outcome<unknown>, { kind: 'answered' }>): Found<never> {
  const cause = outcome.kind === 'exception' ? describe(outcome.exception) : outcome.cause;
  return { kind: 'unavailable', cause: `can't find ${what}: ${cause}` };
}

function addressOf(server: ServerName | undefined): string | undefined {
  return server === undefined || server.hostName === '' ? undefined : `${server.hostName}:${server.port}`;
}

// Undefined when it has no server, or is the parent of two that took its place.
function regionOf(table: string, result: Result): Region | undefined {
  const cells = new Map(result.cell.map((cell) => [bufferOf(cell.qualifier).toString(), bufferOf(cell.value)]));
  const info = cells.get('regioninfo');
  const address = cells.get('server')?.toString();
  const name = result.cell[0]?.row;
  if (info === undefined || name === undefined || address === undefined || address === '') return undefined;
  // The message follows the letters "PBUF".
  const region = fromBinary(RegionInfoSchema, info.subarray(4));
  if (region.offline || region.split || region.replicaId !== 0) return undefined;
  return {
    table,
    name: Buffer.from(name),
    startRow: Buffer.from(region.startKey),
    endRow: Buffer.from(region.endKey),
    address,
  };
}
