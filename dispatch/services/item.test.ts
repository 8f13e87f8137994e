import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { ItemSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { itemLimits } from '../item-limits.ts';
import { checkItem } from './item.ts';

type Init = MessageInitShape<typeof ItemSchema>;

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const field = (name: string, value = 'x') => ({ key: bytes(name), value: bytes(value) });
const reference = { hash: new Uint8Array(32), size: 5n, location: 's3://bucket/key' };
const valid = { business: 'mail', flow: 'mail-intake', key: bytes('spam-1/00001'), fields: [field('raw')] };

function check(changes: Init) {
  return checkItem(create(ItemSchema, { ...valid, ...changes }));
}

function refusal(changes: Init): string {
  const reading = check(changes);
  return reading.kind === 'refused' ? `${reading.field}: ${reading.message}` : 'accepted';
}

describe('checkItem accepts', () => {
  it('an item, and gives it the level in the middle', () => {
    expect(check({})).toEqual({
      kind: 'item',
      item: {
        business: 'mail',
        flow: 'mail-intake',
        key: valid.key,
        level: 5,
        fields: new Map([['raw', { bytes: bytes('x') }]]),
      },
    });
  });

  it.each<[string, Init]>([
    ['no fields', { fields: [] }],
    ['an empty value', { fields: [field('raw', '')] }],
    ['a key of one byte', { key: Uint8Array.of(0) }],
    ['a key of 1,024 bytes', { key: new Uint8Array(1_024) }],
    ['the first level', { level: 1 }],
    ['the last level', { level: 9 }],
    ['a value of 1 MB', { fields: [{ key: bytes('raw'), value: new Uint8Array(itemLimits.maxFieldBytes) }] }],
    ['256 fields', { fields: Array.from({ length: 256 }, (_, index) => field(`field_${index}`)) }],
    ['a reference', { fields: [{ key: bytes('raw'), reference }] }],
    ['a generation', { expectedGeneration: 3 }],
  ])('%s', (_, changes) => {
    expect(refusal(changes)).toBe('accepted');
  });

  it('four values of 1 MB, and not a byte more', () => {
    const megabyte = new Uint8Array(itemLimits.maxFieldBytes);
    const fields = ['a', 'b', 'c', 'd'].map((name) => ({ key: bytes(name), value: megabyte }));
    expect(refusal({ fields })).toBe('accepted');
    expect(refusal({ fields: [...fields, field('e')] })).toBe(
      'fields: found 4,194,305 bytes of values, at most 4,194,304 are allowed together',
    );
  });
});

const nameForm = 'allowed is [a-z][a-z0-9_-]*, up to 64 characters';
const fieldForm = 'allowed is [a-z][a-z0-9_]*, up to 64 characters';

describe('checkItem refuses', () => {
  it.each<[Init, string]>([
    [{ business: '' }, 'business: is absent; a name is needed: [a-z][a-z0-9_-]*, up to 64 characters'],
    [{ business: 'Mail' }, `business: found "Mail", ${nameForm}`],
    [{ flow: 'a/b' }, `flow: found "a/b", ${nameForm}`],
    [{ flow: 'x'.repeat(65) }, `flow: found "${'x'.repeat(40)}…", ${nameForm}`],
    [{ key: new Uint8Array() }, 'key: found 0 bytes, allowed are 1 to 1,024'],
    [{ key: new Uint8Array(1_025) }, 'key: found 1,025 bytes, allowed are 1 to 1,024'],
    [{ level: 10 }, 'level: found 10, allowed are 1 (first) to 9, and 0 for 5'],
    [{ fields: [field('')] }, 'fields[0].key: is absent; a name is needed: [a-z][a-z0-9_]*, up to 64 characters'],
    [{ fields: [field('raw'), field('Raw')] }, `fields[1].key: found "Raw", ${fieldForm}`],
    [{ fields: [field('__proto__')] }, `fields[0].key: found "__proto__", ${fieldForm}`],
    [{ fields: [{ key: Uint8Array.of(0xff), value: bytes('') }] }, `fields[0].key: found "ÿ", ${fieldForm}`],
    [{ fields: [field('raw'), field('raw')] }, 'fields[1].key: the field raw is there twice'],
    [{ fields: [{ key: bytes('raw') }] }, 'fields[0].value: is absent; a value or a reference is needed'],
    [
      { fields: [{ key: bytes('raw'), value: new Uint8Array(itemLimits.maxFieldBytes + 1) }] },
      'fields[0].value: found 1,048,577 bytes, at most 1,048,576 are allowed; larger values go by reference',
    ],
    [
      { fields: Array.from({ length: 257 }, (_, index) => field(`field_${index}`)) },
      'fields: found 257 fields, at most 256 are allowed',
    ],
    [{ fields: [{ ...field('raw'), reference }] }, 'fields[0]: found a value and a reference, one of them is allowed'],
    [
      { fields: [{ key: bytes('raw'), reference: { ...reference, hash: new Uint8Array(20) } }] },
      'fields[0].reference.hash: found 20 bytes, a SHA-256 of 32 is needed',
    ],
    [
      { fields: [{ key: bytes('raw'), reference: { hash: reference.hash, location: 'a' } }] },
      'fields[0].reference.size: is absent; the size of the content in bytes is needed',
    ],
    [
      { fields: [{ key: bytes('raw'), reference: { ...reference, location: '' } }] },
      'fields[0].reference.location: found 0 bytes, allowed are 1 to 2,048',
    ],
    [
      { fields: [{ key: bytes('raw'), reference: { ...reference, location: 'é'.repeat(1_025) } }] },
      'fields[0].reference.location: found 2,050 bytes, allowed are 1 to 2,048',
    ],
  ])('%o', (changes, message) => {
    expect(refusal(changes)).toBe(message);
  });
});
