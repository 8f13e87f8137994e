// What a branch takes in and what it leaves: an element of the list, and one JSON object of the fields that it received.

import { base64Encode, getTextEncoding } from '@bufbuild/protobuf/wire';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { branchOf, branchPath } from './branch-path.ts';
import { flowLimits } from './definition/limits.ts';
import type { Draft } from './draft.ts';
import { printJson } from './expression/json-value.ts';
import { decodeTyped } from './field-type.ts';
import { elementsOf } from './list-elements.ts';
import type { ForEachAction } from './plan.ts';
import { type FieldValue, fieldKey } from './run.ts';

const resultName = 'result';

/** The element that a branch sends, under its name; nothing for what is no branch. */
export function branchFields(draft: Draft, path: string): Array<readonly [string, FieldValue]> {
  const branch = branchOf(path);
  const action = branch && draft.plan.byId.get(branch.step)?.action;
  if (!branch || action?.kind !== 'for_each') return [];
  const elements = elementsOf(draft, branch.step, action);
  const element = elements.kind === 'list' ? elements.items[branch.index] : undefined;
  if (element === undefined) throw new Error(`invariant: ${path} has no element`);
  const text = typeof element === 'string' ? element : (printJson(element) ?? 'null');
  return [[action.as, { bytes: getTextEncoding().encodeUtf8(text) }]];
}

/** Keeps what a branch received; answers why not when that is too much. */
export function setBranchResult(
  draft: Draft,
  path: string,
  names: Iterable<string>,
  fields: ReadonlyMap<string, FieldValue>,
): string | undefined {
  const result = resultJson(draft, names, fields);
  const refusal = tooLarge(draft, path, result);
  if (refusal === undefined) draft.setField(fieldKey(path, resultName), { bytes: result });
  return refusal;
}

/** Why a branch can't keep what it received; undefined when it can, and for what is no branch. */
export function branchRefusal(
  draft: Draft,
  path: string,
  names: Iterable<string>,
  fields: ReadonlyMap<string, FieldValue>,
): string | undefined {
  return branchOf(path) && tooLarge(draft, path, resultJson(draft, names, fields));
}

/**
 * All results together are a field like others, so each branch has its part of the bytes: what is too much is refused when it
 * comes, and joining can't fail.
 */
function tooLarge(draft: Draft, path: string, result: Uint8Array): string | undefined {
  const branch = branchOf(path);
  const count = (branch && draft.step(branch.step)?.branches?.count) ?? 1;
  const maxBytes = Math.floor((flowLimits.maxResultBytes - 2) / count) - 1;
  if (result.length <= maxBytes) return undefined;
  return `the result has ${result.length} bytes as JSON; each of ${count} branches may have ${maxBytes}, larger values go by reference`;
}

/** The received fields as a JSON object: strings, numbers and JSON as themselves, opaque bytes in base64. */
function resultJson(draft: Draft, names: Iterable<string>, fields: ReadonlyMap<string, FieldValue>): Uint8Array {
  const parts: string[] = [];
  for (const name of names) {
    const value = fields.get(name);
    if (value) parts.push(`${JSON.stringify(name)}:${valueJson(draft, name, value)}`);
  }
  return getTextEncoding().encodeUtf8(`{${parts.join(',')}}`);
}

/** The list of all results in the order of the elements; null for those that left none. */
export function joinedResults(draft: Draft, step: string, count: number): Uint8Array {
  const parts: string[] = [];
  for (let index = 0; index < count; index++) {
    const result = draft.field(fieldKey(branchPath(step, index), resultName));
    parts.push(result ? getTextEncoding().decodeUtf8(result.bytes) : 'null');
  }
  return getTextEncoding().encodeUtf8(`[${parts.join(',')}]`);
}

export function removeResults(draft: Draft, step: string, action: ForEachAction, count: number): void {
  for (let index = 0; index < count; index++) draft.removeField(fieldKey(branchPath(step, index), resultName));
  draft.removeField(fieldKey(step, action.into.name));
}

function valueJson(draft: Draft, name: string, { bytes, reference }: FieldValue): string {
  if (reference) {
    const { hash, size, location } = reference;
    return JSON.stringify({
      hash: base64Encode(hash ?? new Uint8Array()),
      size: Number(size ?? 0),
      location: location ?? '',
    });
  }
  const type = draft.plan.fields.get(name)?.type ?? FieldType.BYTES;
  const decoded = decodeTyped(type, bytes);
  const printed = decoded.kind === 'value' ? printJson(decoded.value) : undefined;
  return printed ?? JSON.stringify(base64Encode(bytes));
}
