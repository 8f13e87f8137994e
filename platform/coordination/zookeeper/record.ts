// What a node says: a JSON object, so that people can read it, with the number of its form. Fields may be added to a form, and are
// passed over by who doesn't know them; what changes meaning gets another number.

import type { Decoded } from './watched-folder.ts';

/** The only form so far. */
const form = 1;

export type Fields = Readonly<Record<string, unknown>>;

export function encodeRecord(fields: Fields): Uint8Array {
  return Buffer.from(JSON.stringify({ form, ...fields }));
}

/** `read` answers undefined for fields that aren't right. */
export function decodeRecord<T>(data: Uint8Array, read: (fields: Fields) => T | undefined): Decoded<T> {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(data).toString());
  } catch {
    return { kind: 'foreign', why: 'it is not JSON' };
  }
  if (typeof fields !== 'object' || fields === null) return { kind: 'foreign', why: 'it is not a JSON object' };
  const found = (fields as Fields)['form'];
  if (found !== form) return { kind: 'foreign', why: `its form is ${JSON.stringify(found)}, known is ${form}` };
  const entry = read(fields as Fields);
  return entry === undefined
    ? { kind: 'foreign', why: 'a field is missing or of another type' }
    : { kind: 'entry', entry };
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}
