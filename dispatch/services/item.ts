// Checks the shape of an item that came from outside. What needs the flow or the store is checked when the item is submitted.

import { defaultLevel, lastLevel } from '../../flow/level.ts';
import type { FieldValue } from '../../flow/run.ts';
import type { Field, FieldReference } from '../../proto/gen/weir/module/v1/module_pb.js';
import type { Item } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { CheckedItem } from '../driver/submission.ts';
import { itemLimits } from '../item-limits.ts';
import { count, fieldNameProblem, flowNameProblem, keyProblem } from './names.ts';

export type ItemReading =
  | { readonly kind: 'item'; readonly item: CheckedItem }
  | { readonly kind: 'refused'; readonly field: string; readonly message: string };

/** The item, or the first thing that is wrong with it: its place (`fields[2].value`), what was found, what is allowed. */
export function checkItem(item: Item): ItemReading {
  const { business, flow, key, level, expectedGeneration } = item;
  const problem =
    placed('business', flowNameProblem(business)) ??
    placed('flow', flow === '' ? undefined : flowNameProblem(flow)) ??
    placed('key', keyProblem(key)) ??
    placed('level', levelProblem(level));
  if (problem) return problem;
  const fields = checkFields(item.fields);
  if (!(fields instanceof Map)) return fields;
  return {
    kind: 'item',
    item: {
      business,
      ...(flow === '' ? {} : { flow }),
      key,
      level: level === 0 ? defaultLevel : level,
      fields,
      ...(expectedGeneration === undefined ? {} : { expectedGeneration }),
    },
  };
}

type Refused = Extract<ItemReading, { kind: 'refused' }>;

/** The fields by name, or the first thing that is wrong with them: their limits are the same wherever fields come in. */
export function checkFields(sent: readonly Field[]): Map<string, FieldValue> | Refused {
  const { maxFields, maxItemBytes } = itemLimits;
  if (sent.length > maxFields) {
    return refused('fields', `found ${count(sent.length)} fields, at most ${maxFields} are allowed`);
  }
  const fields = new Map<string, FieldValue>();
  let itemBytes = 0;
  for (const [index, field] of sent.entries()) {
    const place = `fields[${index}]`;
    // Names are ASCII: decoded byte by byte, any other byte is refused like any other character.
    const name = Buffer.from(field.key ?? []).toString('latin1');
    const problem =
      placed(`${place}.key`, fieldNameProblem(name)) ??
      placed(`${place}.key`, fields.has(name) ? `the field ${name} is there twice` : undefined) ??
      valueProblem(place, field);
    if (problem) return problem;
    const bytes = field.value ?? new Uint8Array();
    itemBytes += bytes.length;
    fields.set(name, field.reference ? { bytes, reference: field.reference } : { bytes });
  }
  if (itemBytes <= maxItemBytes) return fields;
  return refused(
    'fields',
    `found ${count(itemBytes)} bytes of values, at most ${count(maxItemBytes)} are allowed together`,
  );
}

function valueProblem(place: string, { value, reference }: Field): Refused | undefined {
  const { maxFieldBytes } = itemLimits;
  if (reference) {
    if (value && value.length > 0) return refused(place, 'found a value and a reference, one of them is allowed');
    return referenceProblem(`${place}.reference`, reference);
  }
  if (!value) return refused(`${place}.value`, 'is absent; a value or a reference is needed');
  if (value.length <= maxFieldBytes) return undefined;
  const message = `found ${count(value.length)} bytes, at most ${count(maxFieldBytes)} are allowed; larger values go by reference`;
  return refused(`${place}.value`, message);
}

function referenceProblem(place: string, { hash, size, location }: FieldReference): Refused | undefined {
  const { hashBytes, maxLocationBytes } = itemLimits;
  const foundBytes = hash?.length ?? 0;
  if (foundBytes !== hashBytes) {
    return refused(`${place}.hash`, `found ${count(foundBytes)} bytes, a SHA-256 of ${hashBytes} is needed`);
  }
  if (size === undefined) return refused(`${place}.size`, 'is absent; the size of the content in bytes is needed');
  const locationBytes = Buffer.byteLength(location ?? '');
  if (locationBytes >= 1 && locationBytes <= maxLocationBytes) return undefined;
  return refused(
    `${place}.location`,
    `found ${count(locationBytes)} bytes, allowed are 1 to ${count(maxLocationBytes)}`,
  );
}

function levelProblem(level: number): string | undefined {
  return level <= lastLevel
    ? undefined
    : `found ${level}, allowed are 1 (first) to ${lastLevel}, and 0 for ${defaultLevel}`;
}

function placed(field: string, message: string | undefined): Refused | undefined {
  return message === undefined ? undefined : refused(field, message);
}

function refused(field: string, message: string): Refused {
  return { kind: 'refused', field, message };
}
