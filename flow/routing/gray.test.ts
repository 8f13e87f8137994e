import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { GraySchema } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { runId, shardOf } from '../run-id.ts';
import { compileGray, takesGray } from './gray.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const keys = Array.from({ length: 10_000 }, (_, index) => `item/${String(index).padStart(6, '0')}`);

/** The keys that a share of a flow takes. */
function taken(flow: string, shareBasisPoints: number): Set<string> {
  const choice = compileGray(flow, create(GraySchema, { version: 2, shareBasisPoints }));
  return new Set(keys.filter((key) => takesGray(choice, { business: 'b', key: bytes(key) })));
}

describe('a share of the items', () => {
  it.each([1, 100, 1_000, 5_000, 9_000])('of %i basis points takes about so many of 10,000', (share) => {
    // Four standard deviations of a fair draw.
    const spread = 4 * Math.sqrt((share * (10_000 - share)) / 10_000) + 1;
    expect(Math.abs(taken('f', share).size - share)).toBeLessThan(spread);
  });

  it('takes none at 0 and all at 10,000', () => {
    expect(taken('f', 0).size).toBe(0);
    expect(taken('f', 10_000).size).toBe(10_000);
  });

  it('keeps what it has when it is widened', () => {
    let smaller = taken('f', 0);
    for (const share of [50, 500, 1_000, 2_500, 7_777, 10_000]) {
      const larger = taken('f', share);
      expect(smaller.isSubsetOf(larger), `of ${share}`).toBe(true);
      smaller = larger;
    }
  });

  it('is the same for ever: an upgrade of the engine moves no item', () => {
    expect([...taken('mail-intake', 10)]).toMatchInlineSnapshot(`
      [
        "item/001534",
        "item/001688",
        "item/002726",
        "item/004820",
        "item/005478",
        "item/006965",
        "item/009180",
        "item/009907",
      ]
    `);
  });

  it('takes other items of another flow', () => {
    const both = taken('one', 1_000).intersection(taken('two', 1_000));
    expect(both.size).toBeGreaterThan(60);
    expect(both.size).toBeLessThan(140);
  });

  it('takes its share of every shard', () => {
    const gray = taken('f', 1_000);
    const counts = Array.from({ length: 16 }, () => ({ all: 0, gray: 0 }));
    for (const key of keys) {
      const shard = shardOf(runId({ business: 'b', flow: 'f', itemKey: bytes(key), generation: 1 }), 16);
      const count = counts[shard];
      if (!count) throw new Error(`no shard ${shard}`);
      count.all++;
      if (gray.has(key)) count.gray++;
    }
    for (const { all, gray: some } of counts) {
      expect(some / all).toBeGreaterThan(0.04);
      expect(some / all).toBeLessThan(0.16);
    }
  });
});

describe('a gray release', () => {
  const choice = compileGray(
    'f',
    create(GraySchema, { version: 2, businesses: ['early'], keys: [bytes('one'), Uint8Array.of(0, 255)] }),
  );

  it.each([
    ['early', bytes('any'), true],
    ['late', bytes('any'), false],
    ['late', bytes('one'), true],
    ['late', Uint8Array.of(0, 255), true],
    ['late', Uint8Array.of(0), false],
  ])('takes of %s the key %o: %s', (business, key, expected) => {
    expect(takesGray(choice, { business, key })).toBe(expected);
  });
});
