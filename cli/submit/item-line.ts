// One line of JSON → one item. The shape of the line is checked here, the item itself by the rules of the engine
// (dispatch/services/item.ts), so that a bad line is told with its place before anything is sent.

import { create } from '@bufbuild/protobuf';
import { checkItem } from '../../dispatch/services/item.ts';
import { didYouMean } from '../../flow/nearest-name.ts';
import { type Item, ItemSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';

export type ItemReading =
  | { readonly kind: 'item'; readonly item: Item }
  /** `message` begins with the place in the line: `fields.raw.base64: …`. */
  | { readonly kind: 'bad'; readonly message: string };

const keys = ['business', 'flow', 'key', 'fields', 'level', 'expectedGeneration'] as const;

class Bad extends Error {}

/**
 * Reads `{"business","flow"?,"key","fields":{name: value},"level"?,"expectedGeneration"?}`; the key and values are texts, or
 * bytes as `{"base64": "…"}`.
 */
export function readItem(text: string): ItemReading {
  try {
    const item = itemOf(parse(text));
    const checked = checkItem(item);
    if (checked.kind === 'item') return { kind: 'item', item };
    return { kind: 'bad', message: `${placeInLine(checked.field, item)}: ${checked.message}` };
  } catch (error) {
    if (error instanceof Bad) return { kind: 'bad', message: error.message };
    throw error;
  }
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser quotes what it met, which may be a payload: its place is enough.
    const position = error instanceof Error ? / at position \d+/.exec(error.message) : null;
    throw new Bad(`is not JSON${position?.[0] ?? ''}; one object is needed`);
  }
  if (!isObject(value)) throw new Bad(`found ${kindOf(value)}; an object is needed`);
  for (const key of Object.keys(value)) {
    if (keys.some((known) => known === key)) continue;
    throw new Bad(`${key.slice(0, 40)}: is unknown${didYouMean(key, keys) || `; allowed are ${keys.join(', ')}`}`);
  }
  return value;
}

function itemOf(line: Record<string, unknown>): Item {
  const fields = line['fields'] ?? {};
  if (!isObject(fields)) throw new Bad(`fields: found ${kindOf(fields)}; an object is needed`);
  const expectedGeneration = line['expectedGeneration'];
  return create(ItemSchema, {
    business: textOf('business', line['business']),
    flow: line['flow'] === undefined ? '' : textOf('flow', line['flow']),
    key: bytesOf('key', line['key']),
    fields: Object.entries(fields).map(([name, value]) => {
      return { key: Buffer.from(name), value: bytesOf(`fields.${name.slice(0, 40)}`, value) };
    }),
    level: line['level'] === undefined ? 0 : numberOf('level', line['level'], 1),
    ...(expectedGeneration === undefined
      ? {}
      : { expectedGeneration: numberOf('expectedGeneration', expectedGeneration, 0) }),
  });
}

function textOf(place: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Bad(`${place}: found ${kindOf(value)}; a text is needed`);
}

function bytesOf(place: string, value: unknown): Uint8Array {
  if (typeof value === 'string') return Buffer.from(value);
  if (!isObject(value) || Object.keys(value).join() !== 'base64') {
    throw new Bad(`${place}: found ${kindOf(value)}; a text or {"base64": "…"} is needed`);
  }
  const { base64 } = value;
  if (typeof base64 !== 'string') throw new Bad(`${place}.base64: found ${kindOf(base64)}; a text is needed`);
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0) return Buffer.from(base64, 'base64');
  throw new Bad(`${place}.base64: is not base64 with padding`);
}

function numberOf(place: string, value: unknown, min: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value < 2 ** 32) return value;
  const found = typeof value === 'number' ? value : kindOf(value);
  throw new Bad(`${place}: found ${found}; a whole number from ${min} is needed`);
}

/** The engine counts fields, a line names them. */
function placeInLine(place: string, item: Item): string {
  const index = /^fields\[(\d+)\]/.exec(place)?.[1];
  if (index === undefined) return place;
  return `fields.${Buffer.from(item.fields[Number(index)]?.key ?? [])
    .toString()
    .slice(0, 40)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { string: 'a text', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'an object';
}
