// From the tree of a text to the message `weir.flow.v1.Flow`: shapes, words and defaults. Whether the flow makes sense is
// validate.ts's question.

import { create } from '@bufbuild/protobuf';
import {
  type FieldDeclaration,
  FieldDeclarationSchema,
  FieldType,
  type Flow,
  FlowSchema,
} from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { fieldTypeNames } from '../field-type.ts';
import { flowDefaults } from './limits.ts';
import { childPath, type Report } from './problem.ts';
import { readExitCall } from './read-exit-call.ts';
import { readStep } from './read-step.ts';
import {
  described,
  type Located,
  plainJson,
  readDuration,
  readItems,
  readMap,
  readMembers,
  readText,
  readWord,
} from './reader.ts';
import type { SourceNode } from './source.ts';

export const flowKeys = ['flow', 'business', 'description', 'fields', 'deadline', 'steps', 'on_exit'] as const;
export const fieldKeys = ['type', 'default'] as const;

/** Reads as much of a flow as is there. What is reported is absent or a default in the result. */
export function readFlow(report: Report, root: SourceNode): Flow {
  // First, so that no number of other problems hides it.
  for (const key of ['flow', 'business', 'steps']) {
    if (root.kind === 'map' && !root.entries.has(key)) report('shape.required', key, `a flow needs the key '${key}'`);
  }
  const members = readMembers(report, { node: root, path: '' }, flowKeys, 'a flow');
  const text = (key: 'flow' | 'business' | 'description'): string => {
    const located = members[key];
    return (located && readText(report, located, key)) ?? '';
  };
  const deadlineMs = readDuration(report, members.deadline, flowDefaults.deadlineMs);
  return create(FlowSchema, {
    name: text('flow'),
    business: text('business'),
    description: text('description'),
    deadlineMs,
    fields: readFields(report, members.fields),
    steps: entriesOf(report, members.steps, 'steps').map(([id, located]) => readStep(report, id, located, deadlineMs)),
    onExit: readItems(report, members.on_exit, 'exit calls').map((item) => readExitCall(report, item)),
  });
}

function entriesOf(report: Report, located: Located | undefined, what: string): [string, Located][] {
  const map = located && readMap(report, located, what);
  return [...(map?.entries ?? [])].map(([key, { value }]) => [
    key,
    { node: value, path: childPath(located?.path ?? '', key) },
  ]);
}

/** Declarations of fields; none when they are absent. */
export function readFields(report: Report, located: Located | undefined): FieldDeclaration[] {
  return entriesOf(report, located, 'fields').map(([name, each]) => readField(report, name, each));
}

function readField(report: Report, name: string, located: Located): FieldDeclaration {
  // `name: type` is short for `name: { type: type }`.
  const members = located.node.kind === 'map' ? readMembers(report, located, fieldKeys, 'a field') : {};
  const typeAt = located.node.kind === 'map' ? members.type : located;
  if (!typeAt) report('shape.required', located.path, "a field needs the key 'type'");
  const type = typeAt && readWord(report, typeAt, fieldTypeNames, 'the type of a field');
  const text = members.default && defaultText(report, members.default, type);
  return create(FieldDeclarationSchema, {
    name,
    type: type ?? FieldType.UNSPECIFIED,
    ...(text !== undefined && { default: text }),
  });
}

/** The text form of a default. A JSON field takes the value itself; numbers keep their digits. */
function defaultText(report: Report, { node, path }: Located, type: FieldType | undefined): string | undefined {
  if (type === undefined) return undefined;
  if (type === FieldType.JSON) return JSON.stringify(plainJson(node));
  const isText = type === FieldType.STRING || type === FieldType.BYTES;
  if (node.kind === 'scalar' && node.value !== null && (!isText || typeof node.value === 'string')) {
    return typeof node.value === 'string' ? node.value : node.text;
  }
  const hint = node.kind === 'scalar' && node.value !== null ? '; put it in quotes' : '';
  report('shape.value', path, `a default is a single value, found ${described(node)}${hint}`);
  return undefined;
}
