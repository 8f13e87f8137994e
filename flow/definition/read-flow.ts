// From the tree of a text to the message `weir.flow.v1.Flow`: shapes, words and defaults. Whether the flow makes sense is
// validate.ts's question.

import { create } from '@bufbuild/protobuf';
import {
  type ExitCall,
  ExitCallSchema,
  ExitState,
  type FieldDeclaration,
  FieldDeclarationSchema,
  FieldType,
  type Flow,
  FlowSchema,
} from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { fieldTypeNames } from '../field-type.ts';
import { flowDefaults, flowLimits } from './limits.ts';
import { childPath, type Report } from './problem.ts';
import { callKeys, readCall, readStep } from './read-step.ts';
import {
  described,
  type Located,
  readDuration,
  readItems,
  readMap,
  readMembers,
  readText,
  readWord,
} from './reader.ts';
import type { SourceNode } from './source.ts';

const flowKeys = ['flow', 'business', 'description', 'fields', 'deadline', 'steps', 'on_exit'] as const;
const exitKeys = ['when', ...callKeys.filter((key) => key !== 'receive')] as const;

const exitStates: ReadonlyMap<string, ExitState> = new Map([
  ['SUCCEEDED', ExitState.SUCCEEDED],
  ['FAILED', ExitState.FAILED],
  ['CANCELLED', ExitState.CANCELLED],
]);

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
    fields: entriesOf(report, members.fields, 'fields').map(([name, located]) => readField(report, name, located)),
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

function readField(report: Report, name: string, located: Located): FieldDeclaration {
  // `name: type` is short for `name: { type: type }`.
  const members = located.node.kind === 'map' ? readMembers(report, located, ['type', 'default'], 'a field') : {};
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

function plainJson(node: SourceNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plainJson);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plainJson(value)]));
  }
}

function readExitCall(report: Report, located: Located): ExitCall {
  const members = readMembers(report, located, exitKeys, 'an exit call');
  for (const key of ['when', 'call'] as const) {
    if (located.node.kind === 'map' && !members[key]) {
      report('shape.required', located.path, `an exit call needs the key '${key}'`);
    }
  }
  const when = readItems(report, members.when, 'states').map(
    (item) => readWord(report, item, exitStates, 'a state in which a run ends') ?? ExitState.UNSPECIFIED,
  );
  return create(ExitCallSchema, { when, call: readCall(report, members, BigInt(flowLimits.maxDeadlineMs)) });
}
