import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Field, type FieldReferenceSchema, FieldSchema } from '../../proto/gen/weir/module/v1/module_pb.js';
import type { FieldKind, FieldReference, JsonValue } from './module.ts';

/** Bytes of one value. Larger ones go by reference. */
export const maxValueBytes = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The value, or what is wrong with it: what was found and what is allowed. */
export type Parsed = { readonly value: unknown } | { readonly problem: string };

/** Reads a field as a kind. The field has a value or a reference. */
export function parseValue(kind: FieldKind, field: Field): Parsed {
  if (kind === 'reference') return field.reference ? parseReference(field) : problem('a value', 'a reference');
  if (field.reference) return problem('a reference', `a value of type ${kind}`);
  const bytes = field.value ?? new Uint8Array();
  if (bytes.length > maxValueBytes) return problem(`${bytes.length} bytes`, `up to ${maxValueBytes}`);
  if (kind === 'bytes') return { value: bytes };
  const text = decode(bytes);
  if (text === undefined) return problem(`${bytes.length} bytes that are not UTF-8`, `${kind} as UTF-8 text`);
  return parseText(kind, text);
}

function parseText(kind: Exclude<FieldKind, 'bytes' | 'reference'>, text: string): Parsed {
  switch (kind) {
    case 'string':
      return { value: text };
    case 'int': {
      const value = /^-?(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
      // + 0 makes -0 a plain zero.
      return Number.isSafeInteger(value)
        ? { value: value + 0 }
        : problem(quote(text), 'a decimal number within ±(2^53 - 1)');
    }
    case 'double': {
      const value = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : Number.NaN;
      return Number.isFinite(value) ? { value } : problem(quote(text), 'a finite number as in JSON');
    }
    case 'bool':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : problem(quote(text), 'true or false');
    case 'json':
      return parseJson(text);
  }
}

function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return problem(quote(text), 'a JSON value');
  }
}

function parseReference({ reference }: Field): Parsed {
  const size = Number(reference?.size ?? -1n);
  if (!reference?.location) return problem('a reference without location', 'hash, size and location');
  if (!Number.isSafeInteger(size) || size < 0) return problem(`a reference of size ${reference.size}`, '0 to 2^53 - 1');
  if (reference.hash?.length !== 32) return problem('a reference without a SHA-256 hash', 'hash, size and location');
  return { value: { hash: reference.hash, size, location: reference.location } satisfies FieldReference };
}

/** A field with a value of a kind, or what is wrong with the value. */
export function formatValue(name: string, kind: FieldKind, value: unknown): Field | { readonly problem: string } {
  if (kind === 'reference') {
    const reference = formatReference(value);
    return 'problem' in reference ? reference : create(FieldSchema, { key: encoder.encode(name), reference });
  }
  const bytes = kind === 'bytes' ? (value instanceof Uint8Array ? value : undefined) : formatText(kind, value);
  if (bytes === undefined) return problem(describe(value), `a value of type ${kind}`);
  if (bytes.length > maxValueBytes) return problem(`${bytes.length} bytes`, `up to ${maxValueBytes}`);
  return create(FieldSchema, { key: encoder.encode(name), value: bytes });
}

function formatText(kind: Exclude<FieldKind, 'bytes' | 'reference'>, value: unknown): Uint8Array | undefined {
  switch (kind) {
    case 'string':
      // Half surrogates have no UTF-8; they become U+FFFD.
      return typeof value === 'string' ? encoder.encode(value) : undefined;
    case 'int':
      return Number.isSafeInteger(value) ? encoder.encode(JSON.stringify(value)) : undefined;
    case 'double':
      return Number.isFinite(value) ? encoder.encode(JSON.stringify(value)) : undefined;
    case 'bool':
      return typeof value === 'boolean' ? encoder.encode(String(value)) : undefined;
    case 'json':
      return formatJson(value);
  }
}

function formatJson(value: unknown): Uint8Array | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : encoder.encode(text);
  } catch {
    return undefined;
  }
}

function formatReference(value: unknown): MessageInitShape<typeof FieldReferenceSchema> | { readonly problem: string } {
  const { hash, size, location } = (value ?? {}) as Partial<FieldReference>;
  const valid =
    hash instanceof Uint8Array && hash.length === 32 && Number.isSafeInteger(size) && typeof location === 'string';
  if (!valid) return problem(describe(value), 'a reference with hash (SHA-256), size and location');
  return { hash, size: BigInt(size as number), location };
}

/** UTF-8 text, or nothing when the bytes are none. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function problem(found: string, allowed: string): { readonly problem: string } {
  return { problem: `found ${found}, allowed is ${allowed}` };
}

/** Characters of a value that a message shows: enough to recognise it. */
const maxShownCharacters = 40;

function quote(text: string): string {
  const shown = JSON.stringify(text.slice(0, maxShownCharacters));
  return text.length <= maxShownCharacters ? shown : `${shown}… (${text.length} characters)`;
}

function describe(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return String(value);
  return typeof value === 'object' ? `an object (${value.constructor?.name ?? 'no class'})` : `a ${typeof value}`;
}
