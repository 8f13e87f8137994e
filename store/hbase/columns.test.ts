import { describe, expect, it } from 'vitest';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { encodeHolder } from '../codec.ts';
import {
  decodeEntries,
  decodeFence,
  decodeIndexValue,
  decodeMark,
  decodeWrite,
  encodeEntries,
  encodeFence,
  encodeIndexValue,
  encodeMark,
  encodeWrite,
  stampOf,
} from './columns.ts';

describe('cells', () => {
  it('of a fence are 16 bytes, the epoch first', () => {
    const bytes = encodeFence({ epoch: 2, version: 258 });
    expect(bytes.toString('hex')).toBe('00000000000000020000000000000102');
    expect(decodeFence(bytes)).toEqual({ epoch: 2, version: 258 });
  });

  it('of entries say what there is', () => {
    const place = { level: 3, order: 7 };
    for (const entries of [
      { ready: true, ...place },
      { ready: false, timerMs: 0, ...place },
      { ready: true, timerMs: 5, leaseMs: 2 ** 41, ...place },
    ]) {
      expect(decodeEntries(encodeEntries(entries))).toEqual(entries);
      expect(encodeEntries(entries)).toHaveLength(26);
    }
  });

  it('of the index, with a holder and without', () => {
    const value = {
      fence: { epoch: 1, version: 2 },
      state: State.ENDING,
      ready: true,
      level: 9,
      order: 1,
      inputBytes: 77,
    };
    const holder = { processId: 'p', incarnation: 'i', claimedMs: 5 };
    expect(decodeIndexValue(encodeIndexValue({ ...value, holder: new Uint8Array() }))).toEqual(value);
    expect(decodeIndexValue(encodeIndexValue({ ...value, holder: encodeHolder(holder) }))).toEqual({
      ...value,
      holder,
    });
  });

  it('of writes and marks', () => {
    expect(decodeWrite(encodeWrite(3, 'wört'))).toEqual({ barrenClaims: 3, writeId: 'wört' });
    expect(decodeMark(encodeMark(4, 5))).toEqual({ sequence: 4, arrivedMs: 5 });
  });
});

it('stamps rise with every write and promotion', () => {
  const stamps = [stampOf(1), stampOf(1, true), stampOf(2), stampOf(2, true)];
  expect(stamps).toEqual([2, 3, 4, 5]);
});
