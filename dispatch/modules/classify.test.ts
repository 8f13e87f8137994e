import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { status as Code } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import {
  FieldReferenceSchema,
  ProcessResponseSchema,
  type ReturnCode,
} from '../../proto/gen/weir/module/v1/module_pb.js';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';
import { classifyResponse, classifyStatus, type EndedExchange } from './classify.ts';

const key = Buffer.from('item-1');
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

function answer(response: MessageInitShape<typeof ProcessResponseSchema>) {
  return classifyResponse(toBinary(ProcessResponseSchema, create(ProcessResponseSchema, response)), key);
}

describe('classifyResponse', () => {
  it.each([
    [0x00, Ending.SUCCEEDED],
    [0x40, Ending.REJECTED],
    [0x41, Ending.REJECTED],
    [0x42, Ending.REJECTED],
    [0x43, Ending.FAILED],
    [0x44, Ending.FAILED],
    [0x45, Ending.FAILED],
    [0x92, Ending.FAILED],
    [0x81, Ending.OVERLOADED],
    [0x91, Ending.OVER_LIMITS],
    [0x90, Ending.NO_AUTH],
    [0x93, Ending.FATAL],
    [0x77, Ending.VIOLATION],
    [-1, Ending.VIOLATION],
  ])('code %i', (code, ending) => {
    const { ending: found, code: kept } = answer({ code: code as ReturnCode, rowkey: key, message: bytes('why') });
    expect({ found: Ending[found], kept }).toEqual({ found: Ending[ending], kept: code });
  });

  it('an absent code is a violation that quotes the message', () => {
    expect(answer({ message: bytes('hello') })).toMatchObject({
      ending: Ending.VIOLATION,
      message: 'the answer has no code; its message: hello',
    });
    expect(classifyResponse(new Uint8Array(), key).ending).toBe(Ending.VIOLATION);
  });

  it('an unknown code is named', () => {
    expect(answer({ code: 0x77 as ReturnCode }).message).toBe('code 0x77 is not a return code');
  });

  it('an absent row key is accepted, another one is not', () => {
    expect(answer({ code: 0 }).ending).toBe(Ending.SUCCEEDED);
    expect(answer({ code: 0, rowkey: Uint8Array.of(0, 1) })).toMatchObject({
      ending: Ending.VIOLATION,
      message: 'the answer is for row key 0x0001, asked was "item-1"',
    });
    expect(answer({ code: 0, rowkey: new Uint8Array() }).ending).toBe(Ending.VIOLATION);
  });

  it('garbage is a violation', () => {
    const found = classifyResponse(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff), key);
    expect(found).toMatchObject({
      ending: Ending.VIOLATION,
      message: expect.stringMatching(/^the answer is no Process/),
    });
  });

  it('fields pass through, references too; the last of a name counts', () => {
    const reference = create(FieldReferenceSchema, { location: 's3://b/k', size: 5n });
    const { fields } = answer({
      code: 0,
      fields: [
        { key: bytes('a'), value: bytes('1') },
        { key: bytes('b'), reference },
        { key: bytes('a'), value: bytes('2') },
      ],
    });
    expect([...fields.keys()]).toEqual(['a', 'b']);
    expect(fields.get('a')).toEqual({ bytes: bytes('2') });
    expect(fields.get('b')).toMatchObject({ reference: { location: 's3://b/k', size: 5n } });
  });

  it('a small value does not keep a large message alive', () => {
    const { fields } = answer({
      code: 0,
      fields: [
        { key: bytes('small'), value: bytes('1') },
        { key: bytes('large'), value: new Uint8Array(100_000) },
      ],
    });
    expect(fields.get('small')?.bytes.buffer.byteLength).toBe(1);
  });

  it('a value over the limit of a field is a violation', () => {
    const value = new Uint8Array(1024 * 1024 + 1);
    expect(answer({ code: 0, fields: [{ key: bytes('big'), value }] })).toMatchObject({
      ending: Ending.VIOLATION,
      message: 'field big of the answer has 1048577 bytes, at most 1048576 are allowed; larger values go by reference',
    });
  });

  it('a message is readable and short', () => {
    expect(answer({ code: 0, message: Uint8Array.of(0x61, 0xff, 0x62) }).message).toBe('a\ufffdb');
    expect(answer({ code: 0, message: bytes('é'.repeat(2_000)) }).message).toBe('é'.repeat(1_024));
    const { message } = answer({ code: 0, message: bytes(`a${'😀'.repeat(1_000)}`) });
    expect(message).toBe(`a${'😀'.repeat(511)}\ufffd`);
  });
});

describe('classifyStatus', () => {
  const peer: EndedExchange = { code: Code.INTERNAL, details: '', origin: 'peer', opened: true, answered: true };

  it.each(Object.values(Code).filter((code) => typeof code === 'number' && code !== Code.OK))(
    'status %i of the peer is an attempt',
    (code) => {
      const ending = code === Code.DEADLINE_EXCEEDED ? Ending.TIMED_OUT : Ending.FAILED;
      expect(classifyStatus({ ...peer, code }).ending).toBe(ending);
    },
  );

  it.each<[string, Partial<EndedExchange>, Ending]>([
    ['no connection', { code: Code.UNAVAILABLE, origin: 'unsent', opened: false, answered: false }, Ending.UNREACHABLE],
    [
      'no stream, other words',
      { code: Code.UNKNOWN, origin: 'local', opened: false, answered: false },
      Ending.UNREACHABLE,
    ],
    [
      'no time to connect',
      { code: Code.DEADLINE_EXCEEDED, origin: 'local', opened: false, answered: false },
      Ending.UNREACHABLE,
    ],
    ['stream refused', { code: Code.UNAVAILABLE, origin: 'unsent', answered: false }, Ending.UNREACHABLE],
    ['refused, yet answered', { code: Code.UNAVAILABLE, origin: 'unsent', answered: true }, Ending.LOST],
    ['connection dropped', { code: Code.UNAVAILABLE, origin: 'lost', answered: false }, Ending.LOST],
    ['dropped within the answer', { code: Code.UNAVAILABLE, origin: 'lost', answered: true }, Ending.LOST],
    ['stream reset', { code: Code.INTERNAL, origin: 'lost', answered: false }, Ending.LOST],
    ['deadline', { code: Code.DEADLINE_EXCEEDED, origin: 'local', answered: false }, Ending.TIMED_OUT],
    ['answer too large', { code: Code.RESOURCE_EXHAUSTED, origin: 'oversized' }, Ending.VIOLATION],
    ['the peer is exhausted', { code: Code.RESOURCE_EXHAUSTED }, Ending.FAILED],
  ])('%s', (_, ended, ending) => {
    expect(Ending[classifyStatus({ ...peer, ...ended }).ending]).toBe(Ending[ending]);
  });

  it('keeps the status and its text', () => {
    expect(classifyStatus({ ...peer, details: 'kaputt: übergelaufen' }).message).toBe('INTERNAL: kaputt: übergelaufen');
    expect(classifyStatus({ ...peer, code: 77 as Code, details: 'x'.repeat(2_000) }).message).toHaveLength(1_024);
  });
});
