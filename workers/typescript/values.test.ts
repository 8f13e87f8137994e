import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { FieldSchema, ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { ModuleError } from './failure.ts';
import { readFields, writeFields } from './fields.ts';
import type { FieldKind, FieldSpecs } from './module.ts';
import { maxValueBytes } from './value.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const field = (name: string, content: Omit<MessageInitShape<typeof FieldSchema>, '$typeName'>) =>
  create(FieldSchema, { key: bytes(name), ...content });

const hash = new Uint8Array(32).fill(7);
const roundTrips: [FieldKind, unknown, string][] = [
  ['string', '', ''],
  ['string', '\ufeff处理 ü', '\ufeff处理 ü'],
  ['int', 0, '0'],
  ['int', -9_007_199_254_740_991, '-9007199254740991'],
  ['double', 1e21, '1e+21'],
  ['double', -0.25, '-0.25'],
  ['bool', true, 'true'],
  ['bool', false, 'false'],
  ['json', { a: [1, null, 'x'] }, '{"a":[1,null,"x"]}'],
  ['json', null, 'null'],
];

describe('a value', () => {
  it.each(roundTrips)('of type %s is written and read back: %j', (kind, value, text) => {
    const [written] = writeFields({ f: kind }, { f: value });
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(written?.value)).toBe(text);
    expect(readFields({ f: kind }, [written!])).toEqual({ f: value });
  });

  it('of bytes is kept as it is, also empty', () => {
    for (const value of [new Uint8Array(), new Uint8Array([0, 255])]) {
      const [written] = writeFields({ f: 'bytes' }, { f: value });
      expect(readFields({ f: 'bytes' }, [written!])).toEqual({ f: value });
    }
  });

  it('kept elsewhere is read and written as a reference', () => {
    const reference = { hash, size: 5, location: 's3://bucket/key' };
    const [written] = writeFields({ f: 'reference' }, { f: reference });
    expect(written?.value).toBeUndefined();
    expect(readFields({ f: 'reference' }, [written!])).toEqual({ f: reference });
  });

  it('with half a character becomes text all the same', () => {
    const [written] = writeFields({ f: 'string' }, { f: 'a\ud800' });
    expect(new TextDecoder().decode(written?.value)).toBe('a\ufffd');
  });
});

const failureOf = (run: () => unknown): ModuleError => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof ModuleError) return thrown;
    throw thrown;
  }
  throw new Error('no failure');
};

const malformed: [FieldKind, Uint8Array | string, RegExp][] = [
  ['string', new Uint8Array([0xc3]), /1 bytes that are not UTF-8/],
  ['int', '1.0', /found "1.0", allowed is a decimal number within ±\(2\^53 - 1\)/],
  ['int', '01', /"01"/],
  ['int', '', /""/],
  ['int', ' 1', /" 1"/],
  ['int', '9007199254740992', /"9007199254740992"/],
  ['double', 'NaN', /found "NaN", allowed is a finite number/],
  ['double', '1e400', /"1e400"/],
  ['double', '.5', /".5"/],
  ['double', '0x10', /"0x10"/],
  ['bool', 'True', /found "True", allowed is true or false/],
  ['json', '{', /found "{", allowed is a JSON value/],
  ['json', `[${'1,'.repeat(100)}`, /found "\[(1,){19}1"… \(201 characters\)/],
  ['bytes', new Uint8Array(maxValueBytes + 1), /found 1048577 bytes, allowed is up to 1048576/],
];

describe('reading', () => {
  it.each(malformed)('refuses as %s: %j', (kind, value, problem) => {
    const content = typeof value === 'string' ? bytes(value) : value;
    const error = failureOf(() => readFields({ f: kind }, [field('f', { value: content })]));
    expect(error.code).toBe(ReturnCode.REQ_PKG_PARAM_INVALID);
    expect(error.message).toMatch(problem);
    expect(error.message).toMatch(/^field f: found /);
  });

  it('takes a value of exactly the limit', () => {
    const value = new Uint8Array(maxValueBytes);
    expect(readFields({ f: 'bytes' }, [field('f', { value })])).toEqual({ f: value });
  });

  it('names a required field that is absent, or has neither value nor reference', () => {
    for (const fields of [[], [field('f', {})]]) {
      const error = failureOf(() => readFields({ f: 'int' }, fields));
      expect(error).toMatchObject({ code: ReturnCode.REQ_MUST_PARAM_MISS, message: 'field f of type int is absent' });
    }
  });

  it('leaves out optional fields that are absent, and fields that nobody declared', () => {
    const undeclared = [field('g', { value: bytes('1') }), create(FieldSchema, { key: new Uint8Array([0xff]) })];
    expect(readFields({ f: 'int?' }, undeclared)).toEqual({});
    expect(readFields({ f: 'int?' }, [field('f', { value: bytes('1') })])).toEqual({ f: 1 });
  });

  it('refuses a field twice, and one without a key', () => {
    const twice = [field('f', { value: bytes('1') }), field('f', { value: bytes('1') })];
    expect(failureOf(() => readFields({ f: 'int' }, twice)).message).toBe('field f: found twice, allowed is once');
    const nameless = [create(FieldSchema, { value: bytes('1') })];
    expect(failureOf(() => readFields({}, nameless)).message).toBe('fields[0] has no key');
  });

  it('does not take a reference for a value, nor a value for a reference', () => {
    const reference = { hash, size: 1n, location: 'x' };
    expect(failureOf(() => readFields({ f: 'bytes' }, [field('f', { reference })])).message).toBe(
      'field f: found a reference, allowed is a value of type bytes',
    );
    expect(failureOf(() => readFields({ f: 'reference' }, [field('f', { value: hash })])).message).toBe(
      'field f: found a value, allowed is a reference',
    );
  });

  it.each([
    { hash, size: 1n },
    { size: 1n, location: 'x' },
    { hash, location: 'x' },
  ])('refuses a reference that is incomplete: %#', (reference) => {
    const error = failureOf(() => readFields({ f: 'reference' }, [field('f', { reference })]));
    expect(error.code).toBe(ReturnCode.REQ_PKG_PARAM_INVALID);
  });
});

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const unwritable: [FieldSpecs, unknown, string][] = [
  [{ f: 'int' }, undefined, 'process returned undefined, not its fields'],
  [{ f: 'int' }, {}, 'field f of type int is absent'],
  [{ constructor: 'string' } as const, {}, 'field constructor of type string is absent'],
  [{ f: 'int' }, { f: 1, g: 2 }, 'field g: not declared as output; those are f'],
  [{ f: 'int' }, { f: 0.5 }, 'field f: found 0.5, allowed is a value of type int'],
  [{ f: 'double' }, { f: Number.NaN }, 'field f: found NaN, allowed is a value of type double'],
  [{ f: 'string' }, { f: 1 }, 'field f: found 1, allowed is a value of type string'],
  [{ f: 'bytes' }, { f: 'x' }, 'field f: found "x", allowed is a value of type bytes'],
  [{ f: 'bool' }, { f: null }, 'field f: found null, allowed is a value of type bool'],
  [{ f: 'json' }, { f: cycle }, 'field f: found an object (Object), allowed is a value of type json'],
  [{ f: 'json' }, { f: () => 1 }, 'field f: found a function, allowed is a value of type json'],
  [{ f: 'bytes' }, { f: new Uint8Array(maxValueBytes + 1) }, 'field f: found 1048577 bytes, allowed is up to 1048576'],
  [
    { f: 'reference' },
    { f: { size: 1 } },
    'field f: found an object (Object), allowed is a reference with hash (SHA-256), size and location',
  ],
];

describe('writing', () => {
  it.each(unwritable)('refuses %j', (specs, values, message) => {
    const error = failureOf(() => writeFields(specs, values));
    expect(error).toMatchObject({ code: ReturnCode.FAIL_PACK_RSP_PKG, message });
  });

  it('leaves out optional fields that are undefined', () => {
    expect(writeFields({ f: 'int?' }, { f: undefined })).toEqual([]);
  });
});
