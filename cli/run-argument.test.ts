import { describe, expect, it } from 'vitest';
import { latin1Bytes } from '../flow/run-id.ts';
import { parseRun, printRun } from './run-argument.ts';

describe('parseRun', () => {
  it('reads business, flow and key; the key may have slashes', () => {
    expect(parseRun('mail/mail-intake/spam-1/00001')).toEqual({
      business: 'mail',
      flow: 'mail-intake',
      key: latin1Bytes('spam-1/00001'),
      generation: 0,
    });
  });

  it('reads a generation', () => {
    expect(parseRun('mail/mail-intake/a#12')).toMatchObject({ key: latin1Bytes('a'), generation: 12 });
    expect(parseRun('mail/mail-intake/a#b')).toMatchObject({ key: latin1Bytes('a#b'), generation: 0 });
  });

  it('reads a key in hexadecimal', () => {
    expect(parseRun('mail/mail-intake/0x00fF#2')).toMatchObject({ key: Uint8Array.of(0, 255), generation: 2 });
  });

  it.each([
    ['', 'Allowed is BUSINESS/FLOW/KEY'],
    ['mail', 'Allowed is BUSINESS/FLOW/KEY'],
    ['mail/mail-intake', 'Allowed is BUSINESS/FLOW/KEY'],
    ['mail/mail-intake/', 'Allowed is BUSINESS/FLOW/KEY'],
    ['//key', 'Allowed is BUSINESS/FLOW/KEY'],
    ['mail/mail-intake/0x', 'even number of hexadecimal digits'],
    ['mail/mail-intake/0x123', 'even number of hexadecimal digits'],
    ['mail/mail-intake/0xzz', 'even number of hexadecimal digits'],
    ['mail/mail-intake/a b', 'printable ASCII'],
    ['mail/mail-intake/ä', 'printable ASCII'],
  ])('refuses %j', (text, message) => {
    expect(() => parseRun(text)).toThrow(message);
  });
});

describe('printRun', () => {
  it.each(['a', 'spam-1/00001', 'a#b', 'a#2', '0x12', '\0', 'ÿ', 'a b', '#', '#1', 'x#', '/'])(
    'of the key %j is read back by parseRun',
    (key) => {
      for (const generation of [1, 2, 77]) {
        const name = { business: 'mail', flow: 'mail-intake', key: latin1Bytes(key), generation };
        const { generation: read, ...rest } = parseRun(printRun(name));
        expect({ ...rest, generation: read === 0 ? 1 : read }).toEqual(name);
      }
    },
  );
});
