import { describe, expect, it } from 'vitest';
import type { Region } from './port.ts';
import { RegionCache } from './region-cache.ts';

const region = (startRow: string, endRow: string, address = 'a:1', table = 't'): Region => ({
  table,
  name: Buffer.from(`${table},${startRow}-${endRow}`),
  startRow: Buffer.from(startRow),
  endRow: Buffer.from(endRow),
  address,
});
const cacheOf = (...regions: readonly Region[]) => {
  const cache = new RegionCache();
  for (const one of regions) cache.put(one);
  return cache;
};
const find = (cache: RegionCache, row: string) => cache.find('t', Buffer.from(row))?.name.toString();

describe('RegionCache', () => {
  it('finds the region of a row, whatever order they came in', () => {
    const cache = cacheOf(region('m', 't'), region('', 'c'), region('t', ''));
    expect(['', 'b', 'c', 'd', 'm', 'sz', 't', 'z'].map((row) => find(cache, row))).toEqual([
      't,-c',
      't,-c',
      undefined,
      undefined,
      't,m-t',
      't,m-t',
      't,t-',
      't,t-',
    ]);
    expect(cache.find('other', Buffer.from('b'))).toBeUndefined();
  });

  it('finds the region that ends where a row begins', () => {
    const cache = cacheOf(region('', 'c'), region('c', ''));
    expect(cache.findEndingAt('t', Buffer.from('c'))?.name.toString()).toBe('t,-c');
    expect(cache.findEndingAt('t', Buffer.alloc(0))?.name.toString()).toBe('t,c-');
    expect(cache.findEndingAt('t', Buffer.from('b'))).toBeUndefined();
  });

  it('lets a new region take the place of those it overlaps: a split, a merge', () => {
    const cache = cacheOf(region('', ''), region('k', ''));
    expect([find(cache, 'a'), find(cache, 'k')]).toEqual([undefined, 't,k-']);
    cache.put(region('', 'k'));
    cache.put(region('', ''));
    expect([find(cache, 'a'), find(cache, 'k')]).toEqual(['t,-', 't,-']);
  });

  it('forgets a region, a server, a table', () => {
    const cache = cacheOf(region('', 'c'), region('c', 'm', 'b:1'), region('m', ''), region('', '', 'b:1', 'u'));
    cache.drop(region('', 'c'));
    expect(find(cache, 'a')).toBeUndefined();
    cache.dropServer('b:1');
    expect([find(cache, 'd'), find(cache, 'm')]).toEqual([undefined, 't,m-']);
    expect(cache.find('u', Buffer.from('a'))).toBeUndefined();
    cache.dropTable('t');
    expect(find(cache, 'm')).toBeUndefined();
  });
});
