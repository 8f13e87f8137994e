import { describe, expect, it } from 'vitest';
import { Code } from '../../platform/rpc/error.ts';
import { pageSize, pageToken, placeOf, readPage } from './pages.ts';

describe('page tokens', () => {
  it('give back the place', () => {
    const token = pageToken(['runs', { flow: 'a' }], '17/ä');
    expect(placeOf(['runs', { flow: 'a' }], token)).toBe('17/ä');
    expect(token).not.toContain('17');
  });

  it('are empty at the end, and empty for the beginning', () => {
    expect(pageToken(['runs'], undefined)).toBe('');
    expect(placeOf(['runs'], '')).toBeUndefined();
  });

  it.each(['nonsense', '=', pageToken(['alarms'], '17')])('refuse %j', (token) => {
    expect(() => placeOf(['runs'], token)).toThrow('page_token: is not one of this list');
  });
});

describe('readPage', () => {
  it('takes a place that the store refuses for a wrong token', async () => {
    const read = () => Promise.reject(new RangeError('not a page of this store'));
    await expect(readPage(read)).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
  });

  it('leaves other failures as they are', async () => {
    await expect(readPage(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});

describe('pageSize', () => {
  it('has a default and a limit', () => {
    expect([0, 1, 1_000].map(pageSize)).toEqual([100, 1, 1_000]);
    expect(() => pageSize(1_001)).toThrow('page_size: found 1001, allowed are 1 to 1000, and 0 for 100');
  });
});
