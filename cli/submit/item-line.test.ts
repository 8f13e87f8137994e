import { describe, expect, it } from 'vitest';
import { readItem } from './item-line.ts';

const valid = { business: 'mail', flow: 'mail-intake', key: 'a', fields: { raw: 'text' } };

function message(changes: Readonly<Record<string, unknown>>): string {
  const reading = readItem(JSON.stringify({ ...valid, ...changes }));
  return reading.kind === 'bad' ? reading.message : 'fine';
}

describe('readItem', () => {
  it('reads texts and bytes', () => {
    const line = { ...valid, key: { base64: 'AP8=' }, fields: { raw: { base64: '/w==' }, label: 'spam' }, level: 2 };
    const reading = readItem(JSON.stringify({ ...line, expectedGeneration: 1 }));
    expect(reading).toMatchObject({
      kind: 'item',
      item: { business: 'mail', flow: 'mail-intake', key: Buffer.of(0, 255), level: 2, expectedGeneration: 1 },
    });
    if (reading.kind !== 'item') return;
    expect(reading.item.fields.map(({ key, value }) => [String(key), value])).toEqual([
      ['raw', Buffer.of(255)],
      ['label', Buffer.from('spam')],
    ]);
  });

  it.each<[Readonly<Record<string, unknown>>, string]>([
    [{}, 'fine'],
    [{ fields: undefined }, 'fine'],
    [{ busines: 1 }, "busines: is unknown; did you mean 'business'?"],
    [{ extra: 1 }, 'extra: is unknown; allowed are business, flow, key, fields, level, expectedGeneration'],
    [{ business: undefined }, 'business: found nothing; a text is needed'],
    [{ business: 'Mail' }, 'business: found "Mail", allowed is [a-z][a-z0-9_-]*, up to 64 characters'],
    [{ flow: null }, 'flow: found null; a text is needed'],
    [{ key: '' }, 'key: found 0 bytes, allowed are 1 to 1,024'],
    [{ key: 7 }, 'key: found a number; a text or {"base64": "…"} is needed'],
    [{ key: { base64: 'A' } }, 'key.base64: is not base64 with padding'],
    [{ key: { base64: 1 } }, 'key.base64: found a number; a text is needed'],
    [{ key: { base64: '', hex: '' } }, 'key: found an object; a text or {"base64": "…"} is needed'],
    [{ fields: [] }, 'fields: found a list; an object is needed'],
    [{ fields: { raw: true } }, 'fields.raw: found a boolean; a text or {"base64": "…"} is needed'],
    [{ fields: { Raw: '' } }, 'fields.Raw: found "Raw", allowed is [a-z][a-z0-9_]*, up to 64 characters'],
    [
      { fields: { raw: 'x'.repeat(1_048_577) } },
      'fields.raw: found 1,048,577 bytes, at most 1,048,576 are allowed; larger values go by reference',
    ],
    [{ level: 10 }, 'level: found 10, allowed are 1 (first) to 9, and 0 for 5'],
    [{ level: 0 }, 'level: found 0; a whole number from 1 is needed'],
    [{ level: '1' }, 'level: found a text; a whole number from 1 is needed'],
    [{ expectedGeneration: 1.5 }, 'expectedGeneration: found 1.5; a whole number from 0 is needed'],
  ])('%j → %s', (changes, expected) => {
    expect(message(changes)).toBe(expected);
  });

  it.each([
    ['{"business" 1}', 'is not JSON at position 12; one object is needed'],
    ['{"business":', 'is not JSON; one object is needed'],
    ['[]', 'found a list; an object is needed'],
    ['"secret"', 'found a text; an object is needed'],
  ])('refuses %s', (text, expected) => {
    expect(readItem(text)).toEqual({ kind: 'bad', message: expected });
  });

  it('does not fall for __proto__', () => {
    expect(readItem('{"business":"mail","flow":"f","key":"a","fields":{"__proto__":"x"}}')).toEqual({
      kind: 'bad',
      message: 'fields.__proto__: found "__proto__", allowed is [a-z][a-z0-9_]*, up to 64 characters',
    });
  });
});
