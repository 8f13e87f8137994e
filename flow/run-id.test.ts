import { describe, expect, it } from 'vitest';
import { callKey, identityOf, printableRun, runId, runParts, shardOf } from './run-id.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (value: string) => new TextEncoder().encode(value);
const parts = (itemKey: Uint8Array, generation = 1) => ({ business: 'mail', flow: 'intake', itemKey, generation });

describe('run ids', () => {
  it('can be taken apart whatever bytes the key has', () => {
    for (const key of [text('plain'), text('with/slash'), bytes(0, 255, 47, 10), text('日本')]) {
      expect(runParts(runId(parts(key, 7)))).toEqual(parts(key, 7));
    }
  });

  it('share identity and shard over all generations', () => {
    const first = runId(parts(text('a'), 1));
    const second = runId(parts(text('a'), 2));
    expect(identityOf(first)).toBe(identityOf(second));
    expect(shardOf(first, 64)).toBe(shardOf(second, 64));
  });

  it('spread keys that differ in their last character over the shards', () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let index = 0; index < 16_000; index++) {
      const shard = shardOf(runId(parts(text(`item-${index}`))), 16);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });

  it.each([
    [text('easy-ham-1/00001'), 1, 'mail/intake/easy-ham-1/00001'],
    [text('a'), 3, 'mail/intake/a#3'],
    [bytes(0, 255), 1, 'mail/intake/0x00ff'],
    [text('a b'), 1, 'mail/intake/0x612062'],
    [text('a#2'), 1, 'mail/intake/0x612332'],
    [text('0x61'), 1, 'mail/intake/0x30783631'],
  ])('print so that no key passes for another', (key, generation, printed) => {
    expect(printableRun(runId(parts(key, generation)))).toBe(printed);
  });

  it('make call keys that no other key and path can make', () => {
    expect(callKey(runId(parts(text('k'))), 'fork/3/sub', 1)).toBe('1/mail/intake/k/fork/3/sub/1');
    expect(callKey(runId(parts(text('k/fork/3'))), 'sub', 1)).toBe('1/mail/intake/k%2Ffork%2F3/sub/1');
  });
});
