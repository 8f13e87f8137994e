import { celList, celMap } from '@bufbuild/cel';
import { describe, expect, it } from 'vitest';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { decodeTyped, encodeTyped, fieldTypeName } from './field-type.ts';

const { BOOL, BYTES, DOUBLE, INT, JSON: JSON_TYPE, STRING, UNSPECIFIED } = FieldType;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('decodeTyped', () => {
  it.each<[FieldType, string, unknown]>([
    [STRING, 'häß😀', 'häß😀'],
    [STRING, '', ''],
    [STRING, '\uFEFFx', '\uFEFFx'],
    [INT, '0', 0n],
    [INT, '-9223372036854775808', -9223372036854775808n],
    [INT, '9223372036854775807', 9223372036854775807n],
    [DOUBLE, '0.5', 0.5],
    [DOUBLE, '-1.5e-3', -0.0015],
    [DOUBLE, '3', 3],
    [BOOL, 'true', true],
    [BOOL, 'false', false],
    [JSON_TYPE, 'null', null],
    [JSON_TYPE, '"x"', 'x'],
  ])('%s %s', (type, text, value) => {
    expect(decodeTyped(type, bytesOf(text))).toEqual({ kind: 'value', value });
  });

  it.each<[FieldType, string, string]>([
    [INT, '', 'is not an int: a decimal number of 64 bits'],
    [INT, '1.0', 'is not an int: a decimal number of 64 bits'],
    [INT, '+1', 'is not an int: a decimal number of 64 bits'],
    [INT, '01', 'is not an int: a decimal number of 64 bits'],
    [INT, '0x10', 'is not an int: a decimal number of 64 bits'],
    [INT, ' 1', 'is not an int: a decimal number of 64 bits'],
    [INT, '9'.repeat(1_000_000), 'is not an int: a decimal number of 64 bits'],
    [INT, '9223372036854775808', 'is not an int: it needs more than 64 bits'],
    [DOUBLE, '.5', 'is not a double: a decimal number as in JSON'],
    [DOUBLE, 'NaN', 'is not a double: a decimal number as in JSON'],
    [DOUBLE, 'Infinity', 'is not a double: a decimal number as in JSON'],
    [DOUBLE, '1e999', 'is not a double: it is too large'],
    [BOOL, 'True', 'is not a bool: `true` or `false`'],
    [BOOL, 'true\n', 'is not a bool: `true` or `false`'],
    [JSON_TYPE, '{"secret":', 'is not JSON'],
    [JSON_TYPE, '['.repeat(65) + ']'.repeat(65), 'has more than 64 levels'],
    [JSON_TYPE, '['.repeat(500_000), 'is not JSON'],
    [JSON_TYPE, `[${'1,'.repeat(10_000)}1]`, 'has a list of more than 10000 elements'],
    [JSON_TYPE, `[${`[${'1,'.repeat(9_998)}1],`.repeat(10)}[]]`, 'has more than 100000 values'],
    [BYTES, 'x', 'is opaque bytes'],
    [UNSPECIFIED, 'x', 'is opaque bytes'],
  ])('%s refuses %.20s', (type, text, message) => {
    expect(decodeTyped(type, bytesOf(text))).toEqual({ kind: 'error', message });
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a cut character', [0x61, 0xe2, 0x82]],
  ])('refuses %s', (_what, bytes) => {
    expect(decodeTyped(STRING, Uint8Array.from(bytes))).toEqual({ kind: 'error', message: 'is not UTF-8' });
  });

  it('keeps what JSON brings in maps, where no key is special', () => {
    const decoded = decodeTyped(JSON_TYPE, bytesOf('{"__proto__":{"polluted":true},"list":[1,{"a":null}]}'));
    if (decoded.kind === 'error') throw new Error(decoded.message);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const encoded = encodeTyped(JSON_TYPE, decoded.value);
    expect(encoded.kind === 'value' && textOf(encoded.bytes)).toBe(
      '{"__proto__":{"polluted":true},"list":[1,{"a":null}]}',
    );
  });
});

describe('encodeTyped', () => {
  it.each<[FieldType, unknown, string]>([
    [STRING, 'häß', 'häß'],
    [INT, -5n, '-5'],
    [DOUBLE, 0.1, '0.1'],
    [DOUBLE, 1e21, '1e+21'],
    [BOOL, true, 'true'],
    [JSON_TYPE, null, 'null'],
    [JSON_TYPE, 9223372036854775807n, '9223372036854775807'],
    [JSON_TYPE, celList(['a', 1.5, true]), '["a",1.5,true]'],
    [JSON_TYPE, celMap(new Map([['k', celList([])]])), '{"k":[]}'],
  ])('%s %s', (type, value, text) => {
    const encoded = encodeTyped(type, value);
    expect(encoded.kind === 'value' && textOf(encoded.bytes)).toBe(text);
  });

  it.each<[FieldType, unknown, string]>([
    [STRING, 5n, 'is int where string is declared'],
    [INT, 5, 'is double where int is declared'],
    [DOUBLE, 5n, 'is int where double is declared'],
    [DOUBLE, Number.POSITIVE_INFINITY, 'is Infinity, which has no text form, where double is declared'],
    [BOOL, 'true', 'is string where bool is declared'],
    [JSON_TYPE, celList([Number.NaN]), 'is list where json is declared'],
    [JSON_TYPE, celMap(new Map([[1n, 'a']])), 'is map where json is declared'],
    [BYTES, 'x', 'is string where bytes is declared'],
    [STRING, '\ud800', 'has half a surrogate pair, which UTF-8 cannot hold'],
    [STRING, 'x'.repeat(65_537), 'has more than 65536 bytes'],
    [STRING, 'é'.repeat(32_769), 'has more than 65536 bytes'],
    [JSON_TYPE, celList(Array.from({ length: 100 }, () => celList(['x'.repeat(1_000)]))), 'has more than 65536 bytes'],
  ])('%s refuses %.30s', (type, value, message) => {
    expect(encodeTyped(type, value)).toEqual({ kind: 'error', message });
  });

  it('takes as much as a field may hold', () => {
    expect(encodeTyped(STRING, 'x'.repeat(65_536))).toMatchObject({ kind: 'value' });
  });

  it('names types as authors do', () => {
    expect([STRING, INT, DOUBLE, BOOL, JSON_TYPE, BYTES, UNSPECIFIED].map(fieldTypeName)).toEqual([
      'string',
      'int',
      'double',
      'bool',
      'json',
      'bytes',
      'unspecified',
    ]);
  });
});
