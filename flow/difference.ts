// What is different between two flows, for people: by steps, fields and keys. Works on any message of weir.flow.v1, so that a
// new kind of step needs nothing here.
//
// Lists of messages with a name (`id`, `name`, `field`, or the text of `when`) are compared by name, other lists of messages by
// place. Lists of texts are sets: their order means nothing in a flow.

import type { DescEnum, DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect, type ScalarValue } from '@bufbuild/protobuf/reflect';
import { printDuration } from './definition/duration.ts';
import { childPath } from './definition/problem.ts';

export interface Difference {
  /** `steps.score.call.retry.tries`; `steps.parse.call.send` for a name that was added to a list or taken from it. */
  readonly path: string;
  /** Absent: added. A short form, as YAML would have it; not cut. */
  readonly from?: string;
  /** Absent: removed. */
  readonly to?: string;
}

/** A message as a tree of texts. */
type Tree =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'names'; readonly names: ReadonlySet<string> }
  | {
      readonly kind: 'map';
      readonly entries: ReadonlyMap<string, Tree>;
      readonly of: 'message' | MessageList;
    };

/** How a list of messages is compared: by name, by name and in order, or by place. */
type MessageList = 'names' | 'ordered names' | 'places';

/** Keys by which messages of a list are told apart, the first that they have. */
const nameKeys = ['id', 'name', 'field', 'when'] as const;

/** Lists of messages in which only the names count, not the order: steps and fields run and are read by name. */
const unorderedKeys: ReadonlySet<string> = new Set(['id', 'name', 'field']);

/** The differences from one message to another of its type, in the order of the first; what was added to a list comes last. */
export function differences<Schema extends DescMessage>(
  schema: Schema,
  from: MessageShape<Schema>,
  to: MessageShape<Schema>,
): Difference[] {
  const found: Difference[] = [];
  compare(found, '', treeOf(reflect(schema, from)), treeOf(reflect(schema, to)));
  return found;
}

function compare(found: Difference[], path: string, from: Tree | undefined, to: Tree | undefined): void {
  if (from?.kind === 'map' && to?.kind === 'map') {
    compareMaps(found, path, from, to);
  } else if (isList(from) || isList(to)) {
    // A list that isn't there is an empty one.
    compareMaps(found, path, isList(from) ? from : empty, isList(to) ? to : empty);
  } else if (from?.kind === 'names' || to?.kind === 'names') {
    const before = from?.kind === 'names' ? from.names : new Set<string>();
    const after = to?.kind === 'names' ? to.names : new Set<string>();
    for (const name of before) if (!after.has(name)) found.push({ path, from: name });
    for (const name of after) if (!before.has(name)) found.push({ path, to: name });
  } else {
    const before = from && printed(from);
    const after = to && printed(to);
    if (before === after) return;
    found.push({ path, ...(before !== undefined && { from: before }), ...(after !== undefined && { to: after }) });
  }
}

type TreeMap = Extract<Tree, { kind: 'map' }>;

function isList(tree: Tree | undefined): tree is TreeMap {
  return tree?.kind === 'map' && tree.of !== 'message';
}

const empty: TreeMap = { kind: 'map', entries: new Map(), of: 'message' };

function compareMaps(found: Difference[], path: string, from: TreeMap, to: TreeMap): void {
  const isByPlace = from.of === 'places' || to.of === 'places';
  const pathOf = (key: string): string => (isByPlace ? `${path}[${key}]` : childPath(path, key));
  for (const [key, value] of from.entries) compare(found, pathOf(key), value, to.entries.get(key));
  for (const [key, value] of to.entries) {
    if (!from.entries.has(key)) compare(found, pathOf(key), undefined, value);
  }
  if (from.of !== 'ordered names' || to.of !== 'ordered names') return;
  const before = [...from.entries.keys()].filter((key) => to.entries.has(key));
  const after = [...to.entries.keys()].filter((key) => from.entries.has(key));
  if (before.join('\n') !== after.join('\n')) found.push({ path, from: listed(before), to: listed(after) });
}

function treeOf(message: ReflectMessage): TreeMap {
  const entries = new Map<string, Tree>();
  for (const field of message.sortedFields) {
    if (message.isSet(field)) entries.set(keyOf(field), fieldTree(message, field));
  }
  return { kind: 'map', entries, of: 'message' };
}

/** Durations carry no unit in the text of a flow. */
function keyOf({ name }: DescField): string {
  return name.replace(/_ms$/, '');
}

function fieldTree(message: ReflectMessage, field: DescField): Tree {
  switch (field.fieldKind) {
    case 'message':
      return treeOf(message.get(field));
    case 'enum':
      return { kind: 'text', text: enumWord(field.enum, message.get(field)) };
    case 'scalar':
      return { kind: 'text', text: scalarText(field, message.get(field)) };
    case 'map': {
      const entries = [...message.get(field)].map(([key, value]): [string, Tree] => {
        return [String(key), { kind: 'text', text: String(value) }];
      });
      return { kind: 'map', entries: new Map(entries), of: 'message' };
    }
    case 'list': {
      const items = [...message.get(field)];
      if (field.listKind === 'message') return listTree(items as ReflectMessage[]);
      const names = items.map((item) =>
        field.listKind === 'enum' ? enumWord(field.enum, Number(item)) : scalarText(field, item as ScalarValue),
      );
      return { kind: 'names', names: new Set(names) };
    }
  }
}

function listTree(items: readonly ReflectMessage[]): Tree {
  const key = nameKeys.find((each) => items.every((item) => item.desc.field[each]?.fieldKind === 'scalar'));
  const names = items.map((item, index) => {
    const field = key === undefined ? undefined : item.desc.field[key];
    return field?.fieldKind === 'scalar' ? scalarText(field, item.get(field)) : String(index);
  });
  const isNamed = key !== undefined && new Set(names).size === names.length;
  const entries = items.map((item, index): [string, Tree] => {
    const tree = treeOf(item);
    if (!isNamed) return [String(index), tree];
    return [names[index] ?? '', { ...tree, entries: new Map([...tree.entries].filter(([each]) => each !== key)) }];
  });
  const of = !isNamed ? 'places' : unorderedKeys.has(key) ? 'names' : 'ordered names';
  return { kind: 'map', entries: new Map(entries), of };
}

/** `FIELD_TYPE_STRING` is `string`, as in the text of a flow. */
function enumWord({ value, sharedPrefix = '' }: DescEnum, number: number): string {
  return (value[number]?.name ?? String(number)).slice(sharedPrefix.length).toLowerCase();
}

function scalarText({ name }: DescField, value: ScalarValue): string {
  if (name.endsWith('_ms')) return printDuration(Number(value));
  return value instanceof Uint8Array ? `${value.length} bytes` : String(value);
}

function printed(tree: Tree): string {
  switch (tree.kind) {
    case 'text':
      return tree.text;
    case 'names':
      return listed([...tree.names]);
    case 'map':
      return printedMap(tree);
  }
}

function printedMap({ entries, of }: TreeMap): string {
  if (entries.size === 0) return '{}';
  if (of === 'places') return listed([...entries.values()].map(printed));
  return `{ ${[...entries].map(([key, value]) => `${key}: ${printed(value)}`).join(', ')} }`;
}

function listed(names: readonly string[]): string {
  return `[${names.join(', ')}]`;
}
