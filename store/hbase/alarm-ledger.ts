// Alarms as this process counts them. One record per key is shown, but every process that raises it keeps a count of its own, a
// column in the key's row: so writes of many processes that raise the same alarm don't stand in each other's way, which is just
// what happens when a module fails. Who reads adds them up.
//
// Owns the counts of one shard.
//
// Invariants:
//   L1  A column has one writer, its counts rise, and the stamp is the count: what is applied late is hidden by what came after.
//   L2  After a write whose end nobody knows its alarms go on in a new column: the old one then stands at either number.
//   L3  One write of the shard is under way at a time, so a count is taken up by the next only after it was settled.

import type { EncodedAlarm } from '../encoded-write.ts';
import { put, remove } from './cells.ts';
import type { Mutation } from './client/port.ts';
import { column } from './columns.ts';
import { alarmOrderRow, alarmRow, number8, readNumber8 } from './row-key.ts';

interface Count {
  readonly column: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Keys whose counts are remembered: those of modules and business lines, which come again; one forgotten begins a new column. */
const maxRemembered = 4_096;

export interface AlarmWrite {
  readonly mutations: readonly Mutation[];
  /** Says how the write ended: undefined when nobody knows. */
  settle(applied: boolean | undefined): void;
}

export class AlarmLedger {
  readonly #shard: number;
  readonly #newColumn: () => string;
  readonly #counts = new Map<string, Count>();

  /** `newColumn` gives a name that no process used before. */
  constructor(shard: number, newColumn: () => string) {
    this.#shard = shard;
    this.#newColumn = newColumn;
  }

  /** What is to be written with the writes that raise these. */
  plan(alarms: readonly RaisedAlarm[]): AlarmWrite {
    const planned = new Map<string, Count>();
    const latest = new Map<string, RaisedAlarm>();
    for (const alarm of alarms) {
      const { key, atMs } = alarm;
      const before = planned.get(key) ?? this.#counts.get(key);
      planned.set(key, {
        column: before?.column ?? this.#newColumn(),
        count: (before?.count ?? 0) + 1,
        firstMs: before?.firstMs ?? atMs,
        lastMs: Math.max(before?.lastMs ?? 0, atMs),
      });
      latest.set(key, alarm);
    }
    const mutations: Mutation[] = [];
    for (const [key, count] of planned) {
      const alarm = latest.get(key);
      if (alarm) this.#write(mutations, alarm, this.#counts.get(key), count);
    }
    return { mutations, settle: (applied) => this.#settle(planned, applied) };
  }

  #write(mutations: Mutation[], { key, bytes, shared }: RaisedAlarm, before: Count | undefined, after: Count): void {
    const place = alarmOrderRow(this.#shard, after.lastMs, key, after.column);
    const value = encodeAlarmCount({ ...after, shared, bytes });
    mutations.push(put(alarmRow(this.#shard, key), after.count, [[Buffer.from(after.column), value]]));
    mutations.push(put(place, after.count, [[column.value, Buffer.from(key)]]));
    if (!before || before.lastMs === after.lastMs) return;
    mutations.push(remove(alarmOrderRow(this.#shard, before.lastMs, key, after.column), after.count, [column.value]));
  }

  #settle(planned: ReadonlyMap<string, Count>, applied: boolean | undefined): void {
    if (applied === false) return;
    for (const [key, count] of planned) {
      this.#counts.delete(key);
      if (applied === true) this.#counts.set(key, count);
    }
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= maxRemembered) return;
      this.#counts.delete(oldest);
    }
  }
}

export interface RaisedAlarm extends EncodedAlarm {
  /** Other runs may raise it too, so it may stand in any shard. */
  readonly shared: boolean;
}

/** One process's count of an alarm, as stored. */
export interface AlarmCount {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly shared: boolean;
  /** An Alarm message. */
  readonly bytes: Uint8Array;
}

const alarmAt = 25;

function encodeAlarmCount({ count, firstMs, lastMs, shared, bytes }: AlarmCount): Buffer {
  return Buffer.concat([number8(count), number8(firstMs), number8(lastMs), Buffer.of(shared ? 1 : 0), bytes]);
}

export function decodeAlarmCount(value: Buffer): AlarmCount {
  return {
    count: readNumber8(value, 0),
    firstMs: readNumber8(value, 8),
    lastMs: readNumber8(value, 16),
    shared: value[24] === 1,
    bytes: value.subarray(alarmAt),
  };
}
