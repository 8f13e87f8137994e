// The bytes of a ProcessResponse, read field by field: this runs once per call, and decoding into messages costs several times as
// much. The test reads the same bytes with the generated code.

import { fromBinary, mergeFromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { type FieldReference, FieldReferenceSchema } from '../../proto/gen/weir/module/v1/module_pb.js';

/** What a module answered. Values are views of the bytes they were read from. */
export interface Response {
  /** Of the answer: absent, one of ReturnCode, or any other number. */
  readonly code: number | undefined;
  readonly message: Uint8Array | undefined;
  readonly rowkey: Uint8Array | undefined;
  readonly fields: readonly ResponseField[];
}

export interface ResponseField {
  /** What is no UTF-8 in it shows as U+FFFD. */
  readonly name: string;
  readonly value: Uint8Array | undefined;
  readonly reference: FieldReference | undefined;
}

/** Numbers of fields in module.proto. */
const response = { code: 1, message: 2, rowkey: 3, fields: 4 } as const;
const field = { key: 1, value: 2, reference: 16 } as const;

/** Throws when the bytes are no ProcessResponse. Of a field that comes twice the last counts; unknown ones are skipped. */
export function readResponse(bytes: Uint8Array): Response {
  // A plain array over the same memory: a Buffer makes views in a slower way.
  const reader = new BinaryReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  let code: number | undefined;
  let message: Uint8Array | undefined;
  let rowkey: Uint8Array | undefined;
  const fields: ResponseField[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === response.code) code = reader.int32();
    else if (number === response.message) message = reader.bytes();
    else if (number === response.rowkey) rowkey = reader.bytes();
    else if (number === response.fields) fields.push(readField(reader));
    else reader.skip(wireType, number);
  }
  return { code, message, rowkey, fields };
}

function readField(reader: BinaryReader): ResponseField {
  const length = reader.uint32();
  const end = reader.pos + length;
  let name = '';
  let value: Uint8Array | undefined;
  let reference: FieldReference | undefined;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (number === field.key) name = reader.string();
    else if (number === field.value) value = reader.bytes();
    else if (number === field.reference) reference = readReference(reader.bytes(), reference);
    else reader.skip(wireType, number);
  }
  if (reader.pos !== end) throw new RangeError('a field is longer than it says');
  return { name, value, reference };
}

/** One that comes in parts is put together. */
function readReference(bytes: Uint8Array, before: FieldReference | undefined): FieldReference {
  return before ? mergeFromBinary(FieldReferenceSchema, before, bytes) : fromBinary(FieldReferenceSchema, bytes);
}
