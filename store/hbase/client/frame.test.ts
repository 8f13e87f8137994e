import { describe, expect, it } from 'vitest';
import { FrameReader, readResponse, requestFrame } from './frame.ts';

const frame = (...bytes: number[]) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
};

describe('FrameReader', () => {
  it('finds the same frames however they are cut', () => {
    const sent = Buffer.concat([frame(1), frame(2, 3, 4), frame(5, 6)]);
    for (let cut = 0; cut <= sent.length; cut += 1) {
      for (let second = cut; second <= sent.length; second += 1) {
        const reader = new FrameReader(10);
        const chunks = [sent.subarray(0, cut), sent.subarray(cut, second), sent.subarray(second)];
        const frames = chunks.flatMap((chunk) => reader.push(chunk));
        expect(frames.map((found) => [...found])).toEqual([[1], [2, 3, 4], [5, 6]]);
      }
    }
  });

  it('refuses a length that cannot be, as soon as it is known', () => {
    expect(() => new FrameReader(10).push(Buffer.from([0, 0, 0, 11]))).toThrow('a frame of 11 bytes; 1 to 10 are');
    expect(() => new FrameReader(10).push(Buffer.from([0, 0, 0, 0]))).toThrow('a frame of 0 bytes');
    expect(() => new FrameReader(10).push(Buffer.from([255, 0, 0, 0]))).toThrow('a frame of -16777216 bytes');
  });
});

describe('readResponse', () => {
  it('refuses parts that end behind their frame, and lengths without end', () => {
    expect(() => readResponse(Buffer.from([9, 8, 1]))).toThrow('a frame of 3 bytes ends before 10');
    expect(() => readResponse(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x80]))).toThrow('no length at byte 0');
    expect(() => readResponse(Buffer.from([2, 8, 1]))).toThrow('no length at byte 3');
  });
});

describe('requestFrame', () => {
  it('writes lengths of any size', () => {
    for (const bytes of [0, 127, 128, 16_383, 16_384, 3_000_000]) {
      const [found] = new FrameReader(4_000_000).push(requestFrame(7, 'Get', 100, Buffer.alloc(bytes, 1)));
      expect(found?.subarray(-bytes || found.length).every((byte) => byte === 1 || bytes === 0)).toBe(true);
      expect(readResponse(found!).message.length).toBe(bytes);
    }
  });
});
