import { describe, expect, it } from 'vitest';
import { identityOf, runId } from '../../flow/run-id.ts';
import {
  afterPrefix,
  afterRow,
  alarmOrderRow,
  assignmentRow,
  behindKind,
  identitySuffix,
  indexSuffixAt,
  levelPrefix,
  number8,
  RunKeys,
  readNumber8,
  readRunSuffix,
  runSuffix,
  timeIn,
} from './row-key.ts';
import { splitKeys } from './table.ts';

const run = (key: Uint8Array | string, generation = 1) =>
  runId({ business: 'b', flow: 'f', itemKey: Buffer.from(key), generation });

describe('the key of a run', () => {
  it('is readable, and has its shard first', () => {
    const row = new RunKeys(run('item-1'), 16).row;
    expect(row.toString('latin1')).toMatch(/^000[0-9a-f]rb\/f\/item-1\0\0\xff\xff\xff\xfe$/);
  });

  const keys = [[0], [0, 0], [0, 1], [1, 0], [255], [255, 255], [47], [0, 255, 0, 1, 0], [...Array(256).keys()]];
  for (const bytes of keys) {
    it(`keeps the bytes ${bytes.slice(0, 6).join(' ')}`, () => {
      const named = run(Uint8Array.from(bytes), 3);
      const suffix = Buffer.concat([runSuffix(named), Buffer.from('rest')]);
      expect(readRunSuffix(suffix, 0)).toEqual({ run: named, rest: Buffer.from('rest') });
    });
  }

  it('no identity begins with another, and the newest generation comes first', () => {
    const identities = keys.map((bytes) => identitySuffix(identityOf(run(Uint8Array.from(bytes)))));
    for (const one of identities) {
      for (const other of identities) {
        if (one !== other) expect(other.subarray(0, one.length).equals(one)).toBe(false);
      }
    }
    expect(runSuffix(run('a', 2)).compare(runSuffix(run('a', 1)))).toBeLessThan(0);
  });

  it('refuses what is none', () => {
    expect(() => readRunSuffix(Buffer.from('0000rb/f/k'), behindKind)).toThrow("isn't Weir's");
  });
});

describe('keys of the index', () => {
  it('sort by level and order, or by time', () => {
    const keys = new RunKeys(run('a'), 1);
    const rows = [keys.ready(1, 5), keys.ready(1, 2 ** 33), keys.ready(2, 0), keys.ready(9, Number.MAX_SAFE_INTEGER)];
    expect(rows.toSorted((one, other) => one.compare(other))).toEqual(rows);
    const times = [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER].map((ms) => keys.timer(ms));
    expect(times.toSorted((one, other) => one.compare(other))).toEqual(times);
    expect(times.map(timeIn).at(-1)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('say their run', () => {
    const named = run(Uint8Array.of(0, 7));
    const keys = new RunKeys(named, 1);
    expect(readRunSuffix(keys.ready(3, 4), indexSuffixAt.ready).run).toBe(named);
    expect(readRunSuffix(keys.lease(4), indexSuffixAt.lease).run).toBe(named);
    const { run: found, rest } = readRunSuffix(keys.inbox(4, 9), indexSuffixAt.inbox);
    expect([found, readNumber8(rest, 0)]).toEqual([named, 9]);
  });

  it('of a level end where the next begins', () => {
    expect(afterPrefix(levelPrefix(0, 3))).toEqual(levelPrefix(0, 4));
    expect(afterPrefix(Buffer.of(1, 255, 255))).toEqual(Buffer.of(2));
    expect(afterRow(Buffer.of(1))).toEqual(Buffer.of(1, 0));
  });
});

it('alarms sort by time, then by key, both downwards', () => {
  const rows = [
    alarmOrderRow(0, 9, 'a', 'x'),
    alarmOrderRow(0, 8, 'b', 'x'),
    alarmOrderRow(0, 8, 'a\0b', 'x'),
    alarmOrderRow(0, 8, 'ab', 'x'),
    alarmOrderRow(0, 8, 'a', 'x'),
  ];
  const sorted = rows.toSorted((one, other) => one.compare(other));
  expect(sorted.map((row) => rows.indexOf(row))).toEqual([0, 1, 3, 2, 4]);
});

it('assignments of one key in two business lines are apart', () => {
  const rows = ['b', 'b-2'].map((business) => assignmentRow(business, Uint8Array.of(1), 16).toString('latin1'));
  expect(new Set(rows).size).toBe(2);
});

it('whole numbers survive', () => {
  for (const value of [0, 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    expect(readNumber8(number8(value), 0)).toBe(value);
  }
});

it('regions begin at bounds of shards, each with as many as the others', () => {
  expect(splitKeys(16, 4).map(String)).toEqual(['0004', '0008', '000c']);
  expect(splitKeys(10, 3).map(String)).toEqual(['0003', '0007']);
  expect(splitKeys(5, 1)).toEqual([]);
});
