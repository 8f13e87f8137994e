// The text forms of typed fields: what a module writes as bytes, what an expression reads as a value, and back. Messages
// say what is wrong with a value but never show it: values belong to items, and messages go to alarms and logs.

import { type CelValue, celType } from '@bufbuild/cel';
import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { parseJson, printJson } from './expression/json-value.ts';
import { expressionLimits } from './expression/limits.ts';

/** Names of the types in the text form of flows. */
export const fieldTypeNames: ReadonlyMap<string, FieldType> = new Map([
  ['bytes', FieldType.BYTES],
  ['string', FieldType.STRING],
  ['int', FieldType.INT],
  ['double', FieldType.DOUBLE],
  ['bool', FieldType.BOOL],
  ['json', FieldType.JSON],
]);

/** A field's value as expressions see it: string, bigint (int), number (double), boolean; JSON as CEL lists and maps. */
export type TypedValue = CelValue;

export type Decoded =
  | { readonly kind: 'value'; readonly value: TypedValue }
  | { readonly kind: 'error'; readonly message: string };

export type Encoded =
  | { readonly kind: 'value'; readonly bytes: Uint8Array }
  | { readonly kind: 'error'; readonly message: string };

const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;
const intForm = /^-?(?:0|[1-9][0-9]{0,18})$/;
const doubleForm = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The name of a type as authors write it. */
export function fieldTypeName(type: FieldType): string {
  for (const [name, each] of fieldTypeNames) if (each === type) return name;
  return 'unspecified';
}

/** Reads a field's bytes by its declared type. Errors: not UTF-8, not the text form of the type, opaque bytes. Never throws. */
export function decodeTyped(type: FieldType, bytes: Uint8Array): Decoded {
  if (type === FieldType.BYTES || type === FieldType.UNSPECIFIED) return failure('is opaque bytes');
  let text: string;
  try {
    text = getTextEncoding().decodeUtf8(bytes, true);
  } catch {
    return failure('is not UTF-8');
  }
  return decodeText(type, text);
}

/** As `decodeTyped`, from text. */
export function decodeText(type: FieldType, text: string): Decoded {
  switch (type) {
    case FieldType.STRING:
      return { kind: 'value', value: text };
    case FieldType.INT:
      return decodeInt(text);
    case FieldType.DOUBLE:
      return decodeDouble(text);
    case FieldType.BOOL:
      if (text === 'true') return { kind: 'value', value: true };
      if (text === 'false') return { kind: 'value', value: false };
      return failure('is not a bool: `true` or `false`');
    case FieldType.JSON:
      return parseJson(text);
    case FieldType.BYTES:
    case FieldType.UNSPECIFIED:
      return failure('is opaque bytes');
  }
}

/**
 * Writes a value that an expression gave as the bytes of a field of `type`. Errors: a value of another type, a number
 * without a text form (infinity), a text with half a surrogate pair, more than `expressionLimits.maxOutputBytes`. Never throws.
 */
export function encodeTyped(type: FieldType, value: unknown): Encoded {
  const text = textOf(type, value as TypedValue);
  if (text === undefined)
    return failure(`is ${describeValue(value as TypedValue)} where ${fieldTypeName(type)} is declared`);
  if (!getTextEncoding().checkUtf8(text)) return failure('has half a surrogate pair, which UTF-8 cannot hold');
  const bytes = text.length > expressionLimits.maxOutputBytes ? undefined : getTextEncoding().encodeUtf8(text);
  if (bytes === undefined || bytes.length > expressionLimits.maxOutputBytes) {
    return failure(`has more than ${expressionLimits.maxOutputBytes} bytes`);
  }
  return { kind: 'value', bytes };
}

function textOf(type: FieldType, value: TypedValue): string | undefined {
  switch (type) {
    case FieldType.STRING:
      return typeof value === 'string' ? value : undefined;
    case FieldType.INT:
      return typeof value === 'bigint' && value >= minInt && value <= maxInt ? String(value) : undefined;
    case FieldType.DOUBLE:
      return typeof value === 'number' ? printJson(value) : undefined;
    case FieldType.BOOL:
      return typeof value === 'boolean' ? String(value) : undefined;
    case FieldType.JSON:
      return printJson(value);
    case FieldType.BYTES:
    case FieldType.UNSPECIFIED:
      return undefined;
  }
}

function decodeInt(text: string): Decoded {
  if (!intForm.test(text)) return failure('is not an int: a decimal number of 64 bits');
  const value = BigInt(text);
  if (value < minInt || value > maxInt) return failure('is not an int: it needs more than 64 bits');
  return { kind: 'value', value };
}

function decodeDouble(text: string): Decoded {
  if (!doubleForm.test(text)) return failure('is not a double: a decimal number as in JSON');
  const value = Number(text);
  return Number.isFinite(value) ? { kind: 'value', value } : failure('is not a double: it is too large');
}

function describeValue(value: TypedValue): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which has no text form,`;
  return celType(value).name;
}

function failure(message: string): { readonly kind: 'error'; readonly message: string } {
  return { kind: 'error', message };
}
