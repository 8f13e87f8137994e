import { describe, expect, it } from 'vitest';
import { movedTo, reactionTo, serverException, describe as textOf } from './exception-classes.ts';

const named = (name: string, text = `${name}: because\n\tat A.b(A.java:1)`) => serverException(name, text);

describe('an exception of the server', () => {
  it('has a plain class name and one line', () => {
    const exception = named('org.apache.hadoop.hbase.NotServingRegionException');
    expect(exception.className).toBe('NotServingRegionException');
    expect(exception.message).toBe('org.apache.hadoop.hbase.NotServingRegionException: because');
    expect(textOf(exception)).toBe(exception.message);
    expect(textOf(named('a.b.C$D', ''))).toBe('D: ');
  });

  it('says where a region has moved', () => {
    const text = 'Region moved to: hostname=h-1.example port=16020 startCode=9. As of locationSeqNum=4.';
    const moved = named('org.apache.hadoop.hbase.exceptions.RegionMovedException', text);
    expect(movedTo(moved)).toBe('h-1.example:16020');
    expect(movedTo(named('a.RegionMovedException', 'somewhere'))).toBeUndefined();
    expect(movedTo(named('a.NotServingRegionException', text))).toBeUndefined();
  });

  it('that nobody knows may have been applied, unless the server says not to try again', () => {
    expect(reactionTo(named('java.io.IOException'))).toBe('unclear');
    expect(reactionTo(named('java.lang.IllegalArgumentException'), true)).toBe('refused');
    // Scanners that are gone are marked so too, and are begun anew all the same.
    expect(reactionTo(named('org.apache.hadoop.hbase.UnknownScannerException'), true)).toBe('reopen');
  });
});
