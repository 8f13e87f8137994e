// The module contract on the wire against the message layout that existing modules speak (we.proto), both ways.

import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  isFieldSet,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema, FeatureSet_FieldPresence as Presence } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  FieldSchema,
  ProcessRequestSchema,
  ProcessResponseSchema,
  ReturnCode,
  ReturnCodeSchema,
} from '../../../proto/gen/weir/module/v1/module_pb.js';

// Outside of the checkout, so that buf doesn't take the file for a part of our own proto module.
const image = execFileSync('buf', ['build', `${import.meta.dirname}/we.proto`, '--output', '-'], { cwd: tmpdir() });
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, new Uint8Array(image)));

function theirs(name: string): DescMessage {
  const message = registry.getMessage(`we.${name}`);
  if (!message) throw new Error(`we.proto has no ${name}`);
  return message;
}
const TheirField = theirs('FieldInfo');
const TheirRequest = theirs('ReqBody');
const TheirResponse = theirs('RspBody');
const theirCodes = registry.getEnum('we.RetEnum');

/** Their messages show defaults for absent fields. */
function isSet(message: Message, schema: DescMessage, name: string): boolean {
  const field = schema.field[name];
  if (!field) throw new Error(`${schema.typeName} has no ${name}`);
  return isFieldSet(message, field);
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const empty = new Uint8Array();

const pairs: [string, DescMessage, DescMessage][] = [
  ['a field', TheirField, FieldSchema],
  ['a request', TheirRequest, ProcessRequestSchema],
  ['a response', TheirResponse, ProcessResponseSchema],
];

describe('the layout', () => {
  it.each(pairs)('of %s has the same numbers, types and presence', (_name, their, our) => {
    const layout = (message: DescMessage) =>
      message.fields
        .filter(({ number }) => number < 16)
        .map((field) => ({
          number: field.number,
          kind: field.fieldKind,
          scalar: field.scalar,
          presence: field.fieldKind === 'list' ? undefined : field.presence,
        }));
    expect(layout(our)).toEqual(layout(their));
    expect(layout(our).every(({ kind, presence }) => kind === 'list' || presence === Presence.EXPLICIT)).toBe(true);
  });

  it('of the return codes has the same names and values', () => {
    const ours = ReturnCodeSchema.values.map(({ name, number }) => [name.replace('RETURN_CODE_', ''), number]);
    expect(ours).toEqual(theirCodes?.values.map(({ name, number }) => [name, number]));
  });
});

describe('a request of theirs', () => {
  const request = create(TheirRequest, {
    bytesRowkey: bytes('row'),
    rptMsgFieldInfo: [
      { bytesKey: bytes('title'), bytesValue: bytes('看点') },
      { bytesKey: bytes('empty'), bytesValue: empty },
      { bytesKey: bytes('absent') },
    ],
    uint64TimeOut: 10_000n,
  });

  it('is read as ours', () => {
    const read = fromBinary(ProcessRequestSchema, toBinary(TheirRequest, request));
    expect(read).toMatchObject({ rowkey: bytes('row'), timeoutMs: 10_000n });
    expect(read.fields.map(({ key, value }) => [key, value])).toEqual([
      [bytes('title'), bytes('看点')],
      [bytes('empty'), empty],
      [bytes('absent'), undefined],
    ]);
    expect(read.$unknown).toBeUndefined();
  });

  it('comes back as it was', () => {
    const sent = toBinary(TheirRequest, request);
    expect(toBinary(ProcessRequestSchema, fromBinary(ProcessRequestSchema, sent))).toEqual(sent);
  });

  it('keeps what is absent apart from what is empty', () => {
    const nothing = fromBinary(ProcessRequestSchema, toBinary(TheirRequest, create(TheirRequest)));
    expect([nothing.rowkey, nothing.timeoutMs, nothing.fields]).toEqual([undefined, undefined, []]);
    const blank = create(TheirRequest, { bytesRowkey: empty, uint64TimeOut: 0n });
    const read = fromBinary(ProcessRequestSchema, toBinary(TheirRequest, blank));
    expect([read.rowkey, read.timeoutMs]).toEqual([empty, 0n]);
    expect(toBinary(ProcessRequestSchema, read)).toEqual(toBinary(TheirRequest, blank));
  });
});

describe('a request of ours', () => {
  const plain = { rowkey: bytes('row'), fields: [{ key: bytes('k'), value: bytes('v') }], timeoutMs: 5n };
  const added = { callKey: 'key', attempt: 1, epoch: 2n, traceparent: '00', business: 'b', flow: 'f', step: 's' };

  it('is read by theirs, which skips what Weir adds and passes it on', () => {
    const sent = toBinary(ProcessRequestSchema, create(ProcessRequestSchema, { ...plain, ...added }));
    const read = fromBinary(TheirRequest, sent);
    expect(read).toMatchObject({
      bytesRowkey: bytes('row'),
      rptMsgFieldInfo: [{ bytesKey: bytes('k'), bytesValue: bytes('v') }],
      uint64TimeOut: 5n,
    });
    expect(fromBinary(ProcessRequestSchema, toBinary(TheirRequest, read))).toMatchObject({ ...plain, ...added });
  });

  it('keeps what is absent apart from what is empty', () => {
    const names = ['bytesRowkey', 'uint64TimeOut'];
    const nothing = fromBinary(TheirRequest, toBinary(ProcessRequestSchema, create(ProcessRequestSchema)));
    expect(names.map((name) => isSet(nothing, TheirRequest, name))).toEqual([false, false]);
    const blank = create(ProcessRequestSchema, { rowkey: empty, timeoutMs: 0n });
    const read = fromBinary(TheirRequest, toBinary(ProcessRequestSchema, blank));
    expect(names.map((name) => isSet(read, TheirRequest, name))).toEqual([true, true]);
  });

  it('with a reference is a field without a value to theirs', () => {
    const field = create(FieldSchema, { key: bytes('k'), reference: { location: 'somewhere' } });
    const read = fromBinary(TheirField, toBinary(FieldSchema, field));
    expect(read).toMatchObject({ bytesKey: bytes('k') });
    expect(isSet(read, TheirField, 'bytesValue')).toBe(false);
    expect(fromBinary(FieldSchema, toBinary(TheirField, read)).reference?.location).toBe('somewhere');
  });
});

describe('a response', () => {
  const codes = ReturnCodeSchema.values.map(({ number }) => number as ReturnCode);

  it.each(codes)('with code %i goes both ways, also SUCC, which is zero', (code) => {
    const their = create(TheirResponse, {
      enumRet: code,
      bytesMsg: bytes('消息'),
      bytesRowkey: bytes('row'),
      rptMsgFieldInfo: [{ bytesKey: bytes('k'), bytesValue: bytes('v') }],
    });
    const our = create(ProcessResponseSchema, {
      code,
      message: bytes('消息'),
      rowkey: bytes('row'),
      fields: [{ key: bytes('k'), value: bytes('v') }],
    });
    expect(toBinary(TheirResponse, their)).toEqual(toBinary(ProcessResponseSchema, our));
    expect(fromBinary(ProcessResponseSchema, toBinary(TheirResponse, their))).toEqual(our);
    expect(fromBinary(TheirResponse, toBinary(ProcessResponseSchema, our))).toEqual(their);
  });

  it('without a code is not SUCC', () => {
    const their = toBinary(TheirResponse, create(TheirResponse, { bytesMsg: bytes('m') }));
    const read = fromBinary(ProcessResponseSchema, their);
    expect(read.code).toBeUndefined();
    expect(read.message).toEqual(bytes('m'));
    expect(toBinary(ProcessResponseSchema, read)).toEqual(their);
    expect(toBinary(ProcessResponseSchema, create(ProcessResponseSchema))).toHaveLength(0);
    expect(toBinary(ProcessResponseSchema, create(ProcessResponseSchema, { code: ReturnCode.SUCC }))).toHaveLength(2);
  });

  it.each([0x01, 0x99, 0x7fffffff, -1])('with the unknown code %i shows its number to us', (number) => {
    const sent = toBinary(ProcessResponseSchema, create(ProcessResponseSchema, { code: number as ReturnCode }));
    // Their enum is closed: to them the code is absent, and it stays among the unknown fields.
    const their = fromBinary(TheirResponse, sent);
    expect(isSet(their, TheirResponse, 'enumRet')).toBe(false);
    expect(their.$unknown).toHaveLength(1);
    const passedOn = toBinary(TheirResponse, their);
    expect(fromBinary(ProcessResponseSchema, passedOn).code).toBe(number);
  });
});
