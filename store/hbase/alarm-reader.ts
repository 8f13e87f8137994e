// Alarms, the newest first, over all shards. What stands in the order rows is where each process raised an alarm last; of those the
// newest is the alarm's place, and its record is the sum over all of them.

import type { Alarm } from '../../proto/gen/weir/run/v1/run_pb.js';
import { decodeAlarm } from '../codec.ts';
import { type AlarmPlace, alarmPlace, alarmPosition, checkLimit } from '../paging.ts';
import { type AlarmCount, decodeAlarmCount } from './alarm-ledger.ts';
import { copied, valueOf } from './cells.ts';
import type { HBase, Row, Scanner } from './client/port.ts';
import { column } from './columns.ts';
import { afterPrefix, alarmOrderBegin, alarmRow, behindKind, kindPrefix, readNumber8, rowKind } from './row-key.ts';

interface Place extends AlarmPlace {
  readonly shard: number;
  /** Without the shard: how places of several shards compare. */
  readonly order: Buffer;
}

export class AlarmReader {
  readonly #hbase: HBase;
  readonly #table: string;
  readonly #shards: number;

  constructor(hbase: HBase, table: string, shards: number) {
    this.#hbase = hbase;
    this.#table = table;
    this.#shards = shards;
  }

  async page(limit: number, after: string | undefined): Promise<{ alarms: readonly Alarm[]; next?: string }> {
    checkLimit(limit);
    const begin = after === undefined ? undefined : alarmPlace(after);
    const merged = new MergedPlaces(
      Array.from({ length: this.#shards }, (_, shard) => new ShardPlaces(this.#scan(shard, begin, limit), shard)),
    );
    try {
      const found: Array<{ place: Place; alarm: Alarm }> = [];
      const shown = new Set<string>();
      for (let place = await merged.next(); place && found.length <= limit; place = await merged.next()) {
        if (shown.has(place.key)) continue;
        shown.add(place.key);
        const alarm = await this.#alarm(place);
        // An alarm that is newer elsewhere was on a page before.
        if (alarm && Number(alarm.lastMs) === place.lastMs) found.push({ place, alarm });
      }
      const page = found.slice(0, limit);
      const last = page.at(-1)?.place;
      const alarms = page.map(({ alarm }) => alarm);
      return found.length > limit && last ? { alarms, next: alarmPosition(last) } : { alarms };
    } finally {
      await merged.close();
    }
  }

  async #alarm({ shard, key }: Place): Promise<Alarm | undefined> {
    const own = countsOf(await this.#hbase.get(this.#table, alarmRow(shard, key)));
    const counts = own.some(({ shared }) => shared) ? await this.#everywhere(key) : own;
    const [latest] = counts.toSorted((one, other) => other.lastMs - one.lastMs);
    if (!latest) return undefined;
    const firstMs = Math.min(...counts.map((count) => count.firstMs));
    const lastMs = Math.max(...counts.map((count) => count.lastMs));
    const count = counts.reduce((sum, each) => sum + each.count, 0);
    return decodeAlarm(copied(latest.bytes), firstMs, lastMs, count);
  }

  async #everywhere(key: string): Promise<AlarmCount[]> {
    const rows = Array.from({ length: this.#shards }, (_, shard) => alarmRow(shard, key));
    return (await this.#hbase.getMany(this.#table, rows)).flatMap(countsOf);
  }

  #scan(shard: number, after: AlarmPlace | undefined, limit: number): Scanner {
    const prefix = kindPrefix(shard, rowKind.alarmOrder);
    const startRow = after ? afterPrefix(alarmOrderBegin(shard, after.lastMs, after.key)) : prefix;
    return this.#hbase.scan(this.#table, { startRow, stopRow: afterPrefix(prefix), batch: limit + 1 });
  }
}

function countsOf(row: Row | undefined): AlarmCount[] {
  return row ? row.cells.map(({ value }) => decodeAlarmCount(value)) : [];
}

/** The places of one shard in their order. */
class ShardPlaces {
  readonly shard: number;
  readonly #scanner: Scanner;
  #ahead: Row[] = [];
  #ended = false;

  constructor(scanner: Scanner, shard: number) {
    this.#scanner = scanner;
    this.shard = shard;
  }

  async first(): Promise<Place | undefined> {
    if (this.#ahead.length === 0 && !this.#ended) {
      this.#ahead = [...(await this.#scanner.next())];
      this.#ended = this.#ahead.length === 0;
    }
    const row = this.#ahead[0];
    const key = row && valueOf(row, column.value)?.toString();
    if (!row || key === undefined) return undefined;
    const lastMs = Number.MAX_SAFE_INTEGER - readNumber8(row.row, behindKind);
    return { shard: this.shard, lastMs, key, order: row.row.subarray(behindKind) };
  }

  take(): void {
    this.#ahead.shift();
  }

  async close(): Promise<void> {
    await this.#scanner.close();
  }
}

class MergedPlaces {
  readonly #shards: readonly ShardPlaces[];

  constructor(shards: readonly ShardPlaces[]) {
    this.#shards = shards;
  }

  async next(): Promise<Place | undefined> {
    const firsts = await Promise.all(this.#shards.map((shard) => shard.first()));
    let best: { place: Place; from: ShardPlaces } | undefined;
    for (const [index, place] of firsts.entries()) {
      const from = this.#shards[index];
      if (place && from && (!best || place.order.compare(best.place.order) < 0)) best = { place, from };
    }
    best?.from.take();
    return best?.place;
  }

  async close(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.close()));
  }
}
