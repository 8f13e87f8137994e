import { describe, expect, it } from 'vitest';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { table } from './table.ts';
import { enumName, printedBytes, printedMs, shownBytes } from './text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('printedBytes', () => {
  it('is the text when it is one', () => {
    expect(printedBytes(bytes('处理\n\tok'))).toBe('处理\n\tok');
    expect(printedBytes(bytes(''))).toBe('');
  });

  it('is base64 for bytes that are no text, and for what could drive a terminal', () => {
    expect(printedBytes(Uint8Array.of(0xff, 0xfe))).toEqual({ base64: '//4=' });
    expect(printedBytes(bytes('\u001b[2J'))).toEqual({ base64: 'G1sySg==' });
    expect(printedBytes(bytes('a\0'))).toEqual({ base64: 'YQA=' });
    expect(printedBytes(bytes('\u009b2J'))).toEqual({ base64: 'wpsySg==' });
  });
});

describe('shownBytes', () => {
  it('is one line of bounded length', () => {
    expect(shownBytes(bytes('a\n b'), 10)).toBe('a b');
    expect(shownBytes(bytes('abcdef'), 3)).toBe('abc… (6 bytes)');
    expect(shownBytes(Uint8Array.of(0xff), 10)).toBe('(1 bytes)');
  });
});

describe('enumName', () => {
  it('is the name, nothing for unspecified, the number for a newer one', () => {
    expect([State.OPEN, 0, 99].map((value) => enumName(State, value))).toEqual(['OPEN', '', '99']);
  });
});

describe('printedMs', () => {
  it('leaves out a time that is not set', () => {
    expect(printedMs(0n)).toBeUndefined();
    expect(printedMs(1n)).toBe('1970-01-01T00:00:00.001Z');
  });
});

describe('table', () => {
  it('aligns columns, numbers to the right', () => {
    expect(
      table(
        ['STEP', 'CALLS', ''],
        [
          ['a', 1_234, 'x'],
          ['longer', 5, ''],
        ],
      ),
    ).toBe(['STEP    CALLS', 'a       1,234  x', 'longer      5'].join('\n'));
  });
});
