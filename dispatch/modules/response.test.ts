import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  FieldReferenceSchema,
  ProcessResponseSchema,
  type ReturnCode,
} from '../../proto/gen/weir/module/v1/module_pb.js';
import { type Response, readResponse } from './response.ts';

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** As the generated code reads it. */
function generated(encoded: Uint8Array): Response {
  const { code, message, rowkey, fields } = fromBinary(ProcessResponseSchema, encoded);
  const read = fields.map(({ key, value, reference }) => ({
    name: key === undefined ? '' : new TextDecoder().decode(key),
    value,
    reference,
  }));
  return { code, message, rowkey, fields: read };
}

function attempt(read: (encoded: Uint8Array) => Response, encoded: Uint8Array): Response | undefined {
  try {
    return read(encoded);
  } catch {
    return undefined;
  }
}

const full = toBinary(
  ProcessResponseSchema,
  create(ProcessResponseSchema, {
    code: -2 as ReturnCode,
    message: bytes('why'),
    rowkey: bytes('item-1'),
    fields: [
      { key: bytes('größe'), value: bytes('1') },
      { key: bytes('kept'), reference: { hash: bytes('h'), size: 2n ** 40n, location: 's3://b/k' } },
      { key: bytes('empty'), value: new Uint8Array() },
      { key: Uint8Array.of(0x61, 0xff), value: bytes('no UTF-8') },
      {},
    ],
  }),
);
/** A field of a later version of the contract, with a group in it. */
const unknown = Uint8Array.of(0xa2, 0x06, 1, 7, 0xab, 0x06, 8, 1, 0xac, 0x06);

describe('readResponse', () => {
  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['everything', full],
    ['everything twice', joined(full, full)],
    ['what it does not know', joined(unknown, full, unknown)],
    ['a reference in two parts', referenceInParts()],
  ])('reads %s as the generated code does', (_, encoded) => {
    expect(readResponse(encoded)).toEqual(generated(encoded));
  });

  it('reads nothing into damaged bytes that the generated code does not', () => {
    const damaged = Array.from(full, (_, length) => full.slice(0, length));
    for (const index of full.keys()) {
      for (let value = 0; value < 256; value++) damaged.push(full.with(index, value));
    }
    const different = damaged.filter((encoded) => {
      const read = attempt(readResponse, encoded);
      return read !== undefined && !isEqual(read, attempt(generated, encoded));
    });
    expect(different).toEqual([]);
  });

  it('reads views, so that nothing is copied before it is wanted', () => {
    const { message } = readResponse(full);
    expect(message?.buffer).toBe(full.buffer);
  });

  it('refuses a field that is longer than it says', () => {
    // Its length is 1, and its key goes on beyond it.
    expect(() => readResponse(Uint8Array.of(0x22, 1, 0x0a, 1, 0x61))).toThrow('longer than it says');
  });
});

function joined(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

function referenceInParts(): Uint8Array {
  const parts = [{ location: 'here' }, { size: 5n }].map((part) =>
    toBinary(FieldReferenceSchema, create(FieldReferenceSchema, part)),
  );
  const field = joined(...parts.flatMap((part) => [Uint8Array.of(0x82, 0x01, part.length), part]));
  return joined(Uint8Array.of(0x22, field.length), field);
}

/** Much faster than what `expect` does, for tens of thousands. */
function isEqual(one: Response, other: Response | undefined): boolean {
  return other !== undefined && text(one) === text(other);
}

function text(response: Response): string {
  return JSON.stringify(response, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  });
}
