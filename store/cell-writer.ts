// Protobuf bytes of the cells that every run writes many times, at a third of the cost of the reflective encoder: one
// writer whose buffer is kept, no message object, no bigint. codec.test.ts holds it equal to `toBinary`, byte by byte.
//
// Ownership: the shared writer belongs to the call that runs; it is empty between calls, since nothing here awaits.

import type { UnknownField } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

const writer = new BinaryWriter();

/** Longest value that goes through the shared writer, in bytes: its buffer never shrinks. */
const maxSharedBytes = 64 * 1024;

/** Encodes one message: `fill` writes its fields in the order of their numbers. */
export function encode<T>(value: T, fill: (value: T) => void): Uint8Array {
  try {
    fill(value);
  } catch (error) {
    // What is half written must not begin the next message.
    writer.finish();
    throw error;
  }
  return writer.finish();
}

/** Fields of implicit presence: the default value isn't written. */
export function unsigned(no: number, value: number): void {
  if (value !== 0) varint(no, value);
}

export function optionalUnsigned(no: number, value: number | undefined): void {
  if (value !== undefined) varint(no, value);
}

function varint(no: number, value: number): void {
  writer.tag(no, WireType.Varint);
  // The shorter way for what has 32 bits: counts, codes, enums.
  if (value <= 0xffff_ffff && value >= 0 && Number.isInteger(value)) writer.uint32(value);
  else writer.uint64(safe(value));
}

export function flag(no: number, value: boolean): void {
  if (value) writer.tag(no, WireType.Varint).bool(true);
}

export function text(no: number, value: string): void {
  if (value !== '') writer.tag(no, WireType.LengthDelimited).string(value);
}

export function texts(no: number, values: readonly string[]): void {
  for (const value of values) writer.tag(no, WireType.LengthDelimited).string(value);
}

export function bytes(no: number, value: Uint8Array): void {
  if (value.length > 0) writer.tag(no, WireType.LengthDelimited).bytes(value);
}

export function message<T>(no: number, value: T, fill: (value: T) => void): void {
  writer.tag(no, WireType.LengthDelimited).fork();
  fill(value);
  writer.join();
}

export function unknown(fields: readonly UnknownField[] | undefined): void {
  if (fields) for (const { no, wireType, data } of fields) writer.tag(no, wireType).raw(data);
}

/** A message with nothing but bytes in field `no`, copied once. */
export function encodeBytes(no: number, value: Uint8Array): Uint8Array {
  if (value.length <= maxSharedBytes) return encode(value, (value) => bytes(no, value));
  return new BinaryWriter().tag(no, WireType.LengthDelimited).bytes(value).finish();
}

/** Throws a RangeError for what a number can't hold exactly or a stored message doesn't allow: a bug of the caller. */
export function safe(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`not a whole number from 0 to 2^53 - 1: ${value}`);
  return value;
}
