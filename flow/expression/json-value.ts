// JSON fields as expressions see them: CEL lists and maps, numbers as double. Maps, never objects, hold what comes from
// outside, so that a key like `__proto__` is only a key.

import { type CelValue, celList, celMap, isCelList, isCelMap } from '@bufbuild/cel';
import { expressionLimits } from './limits.ts';

export type JsonParse =
  | { readonly kind: 'value'; readonly value: CelValue }
  | { readonly kind: 'error'; readonly message: string };

/** Reads a JSON text into CEL values. Errors: not JSON, too deep, a list too long, too many values. Never throws. */
export function parseJson(text: string): JsonParse {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The message of the language quotes the text, and items don't belong into messages.
    return { kind: 'error', message: 'is not JSON' };
  }
  const count = { values: 0 };
  try {
    return { kind: 'value', value: toCelValue(parsed, 0, count) };
  } catch (error) {
    if (error instanceof TooLarge) return { kind: 'error', message: error.message };
    throw error;
  }
}

/** Ends the walk over a JSON value from any depth; never leaves this file. */
class TooLarge extends Error {}

function toCelValue(value: unknown, depth: number, count: { values: number }): CelValue {
  const { maxJsonDepth, maxJsonValues, maxListElements } = expressionLimits;
  count.values += 1;
  if (count.values > maxJsonValues) throw new TooLarge(`has more than ${maxJsonValues} values`);
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    default:
      if (value === null || value === undefined) return null;
  }
  if (depth >= maxJsonDepth) throw new TooLarge(`has more than ${maxJsonDepth} levels`);
  if (Array.isArray(value)) {
    if (value.length > maxListElements) throw new TooLarge(`has a list of more than ${maxListElements} elements`);
    return celList(value.map((element) => toCelValue(element, depth + 1, count)));
  }
  const entries = Object.entries(value);
  if (entries.length > maxListElements) throw new TooLarge(`has an object of more than ${maxListElements} entries`);
  return celMap(new Map(entries.map(([key, entry]) => [key, toCelValue(entry, depth + 1, count)])));
}

/** Writes a CEL value as JSON text; `undefined` when it has no JSON form (a map key that is no text, infinity, bytes, …). */
export function printJson(value: CelValue): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : undefined;
    case 'bigint':
      return String(value);
    default:
  }
  if (value === null) return 'null';
  if (isCelList(value)) return printAll('[', value, printJson, ']');
  if (isCelMap(value)) {
    const printEntry = ([key, entry]: [unknown, CelValue]): string | undefined => {
      const printed = typeof key === 'string' ? printJson(entry) : undefined;
      return printed === undefined ? undefined : `${JSON.stringify(key)}:${printed}`;
    };
    return printAll('{', value, printEntry, '}');
  }
  return undefined;
}

/** Once the parts are larger than any output may be, the rest is left out: the caller refuses the text for its size. */
function printAll<Part>(
  open: string,
  parts: Iterable<Part>,
  print: (part: Part) => string | undefined,
  close: string,
): string | undefined {
  const printed: string[] = [];
  let characters = 0;
  for (const part of parts) {
    const text = print(part);
    if (text === undefined) return undefined;
    printed.push(text);
    characters += text.length;
    if (characters > expressionLimits.maxOutputBytes) break;
  }
  return `${open}${printed.join(',')}${close}`;
}
