// Values of fields in a script.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { childPath, type Report } from '../definition/problem.ts';
import { type Located, plainJson, readMap } from '../definition/reader.ts';
import type { SourceNode } from '../definition/source.ts';
import type { FieldValue } from '../run.ts';

/** Values by name: texts as they are, numbers and booleans as written, lists and maps as JSON. */
export function readValues(report: Report, located: Located | undefined): ReadonlyMap<string, FieldValue> {
  const values = new Map<string, FieldValue>();
  const map = located && readMap(report, located, 'what holds the values of fields');
  for (const [name, { value }] of map?.entries ?? []) {
    const text = valueText(value);
    if (text === undefined) {
      report('shape.value', childPath(located?.path ?? '', name), 'a value is needed, found nothing');
    } else values.set(name, { bytes: getTextEncoding().encodeUtf8(text) });
  }
  return values;
}

function valueText(node: SourceNode): string | undefined {
  if (node.kind !== 'scalar') return JSON.stringify(plainJson(node));
  if (node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.text;
}

/** For traces: `name="value"`, with blanks between. */
export function printValues(values: ReadonlyMap<string, FieldValue>): string {
  return [...values]
    .map(([name, { bytes }]) => `${name}=${JSON.stringify(getTextEncoding().decodeUtf8(bytes))}`)
    .join(' ');
}
