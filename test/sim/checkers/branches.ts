// What the branches of a list send and leave, as the flow says: for the checkers, apart from the engine's.

import { isCelList } from '@bufbuild/cel';
import { branchOf } from '../../../flow/branch-path.ts';
import { printJson } from '../../../flow/expression/json-value.ts';
import { decodeTyped } from '../../../flow/field-type.ts';
import type { ForEachAction, Plan } from '../../../flow/plan.ts';
import { FieldType } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import type { RunView } from './checker.ts';
import { valueOf } from './flow-rules.ts';

/** The elements of a list as branches send them, byte by byte as Latin-1; undefined when it is no list. */
export function elementsOf(action: ForEachAction, run: Pick<RunView, 'steps' | 'fields'>): string[] | undefined {
  const list = valueOf(action.over, run);
  if (!isCelList(list)) return undefined;
  return [...list].map((element) => latin1(typeof element === 'string' ? element : (printJson(element) ?? 'null')));
}

/** What a branch adds to the fields that it sends: its element, under its name. */
export function elementOf(
  plan: Plan | undefined,
  path: string,
  run: Pick<RunView, 'steps' | 'fields'>,
): readonly [name: string, value: string] | undefined {
  const branch = branchOf(path);
  const action = branch && plan?.byId.get(branch.step)?.action;
  if (!branch || action?.kind !== 'for_each') return undefined;
  const element = elementsOf(action, run)?.[branch.index];
  return element === undefined ? undefined : [action.as, element];
}

/** What a branch leaves of the fields that it received: one JSON object. All as Latin-1. */
export function resultOf(
  plan: Plan | undefined,
  names: Iterable<string>,
  fieldOf: (name: string) => string | undefined,
): string {
  const parts: string[] = [];
  for (const name of names) {
    const value = fieldOf(name);
    if (value === undefined) continue;
    const bytes = Buffer.from(value, 'latin1');
    const type = plan?.fields.get(name)?.type ?? FieldType.BYTES;
    const decoded = decodeTyped(type, bytes);
    const typed = decoded.kind === 'value' ? printJson(decoded.value) : undefined;
    parts.push(`${JSON.stringify(name)}:${typed ?? JSON.stringify(bytes.toString('base64'))}`);
  }
  return latin1(`{${parts.join(',')}}`);
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
