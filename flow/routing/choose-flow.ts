// Which flow an item takes by the routes of its business line.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { FieldType } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import type { RouteTable } from '../../proto/gen/weir/flow/v1/routes_pb.js';
import { compileExpression, type Expression } from '../expression.ts';
import { decodeTyped, type TypedValue } from '../field-type.ts';
import type { FieldValue } from '../run.ts';
import { typesOf } from './variables.ts';

/** A table made ready to be asked: once per version, not per item. */
export interface CompiledRoutes {
  readonly business: string;
  readonly rules: ReadonlyArray<{ readonly when: Expression; readonly flow: string }>;
  /** Empty: what no rule takes is refused. */
  readonly otherwise: string;
  readonly types: ReadonlyMap<string, FieldType>;
  readonly defaults: ReadonlyMap<string, Uint8Array>;
}

/** What rules see of an item. */
export interface RoutedItem {
  readonly level: number;
  readonly fields: ReadonlyMap<string, FieldValue>;
}

export type RouteChoice = {
  /** The values that the rules read until one held, by name: why it came out so. */
  readonly read: ReadonlyMap<string, TypedValue>;
} & (
  | {
      readonly kind: 'flow';
      readonly flow: string;
      /** Which rule held, from 0; absent: none did, and `otherwise` names the flow. */
      readonly rule?: number;
    }
  /** No rule holds, and `otherwise` refuses. */
  | { readonly kind: 'refused' }
  /** A rule couldn't be evaluated: those after it were not tried, since it might have held. */
  | { readonly kind: 'failed'; readonly rule: number; readonly message: string }
);

/** Compiles a table that was accepted. Throws for one that validation refuses: that is a bug. */
export function compileRoutes(table: RouteTable): CompiledRoutes {
  const types = typesOf(table);
  const rules = table.rules.map(({ when, flow }, index) => {
    const compiled = compileExpression(when, types, FieldType.BOOL);
    if (compiled.kind === 'invalid') throw new Error(`rules[${index}].when: ${compiled.message}`);
    return { when: compiled.expression, flow };
  });
  const defaults = new Map(
    table.fields.flatMap(({ name, default: text }): [string, Uint8Array][] =>
      text === undefined ? [] : [[name, getTextEncoding().encodeUtf8(text)]],
    ),
  );
  return { business: table.business, rules, otherwise: table.otherwise, types, defaults };
}

/** The first rule that holds decides. Never throws, whatever the item holds. */
export function chooseFlow(routes: CompiledRoutes, item: RoutedItem): RouteChoice {
  const read = new Map<string, TypedValue>();
  for (const [rule, { when, flow }] of routes.rules.entries()) {
    const result = evaluate(routes, item, when, read);
    if (result.kind === 'failed')
      return { kind: 'failed', rule, read, message: `rules[${rule}].when: ${result.message}` };
    if (result.holds) return { kind: 'flow', flow, rule, read };
  }
  return routes.otherwise === '' ? { kind: 'refused', read } : { kind: 'flow', flow: routes.otherwise, read };
}

type Evaluated =
  | { readonly kind: 'done'; readonly holds: boolean }
  | { readonly kind: 'failed'; readonly message: string };

function evaluate(
  routes: CompiledRoutes,
  item: RoutedItem,
  when: Expression,
  read: Map<string, TypedValue>,
): Evaluated {
  for (const name of when.fields) {
    if (read.has(name)) continue;
    const value = readValue(routes, item, name);
    if (value.kind === 'error') return { kind: 'failed', message: `field ${name} ${value.message}` };
    read.set(name, value.value);
  }
  const result = when.evaluate(Object.fromEntries(read));
  if (result.kind === 'error') return { kind: 'failed', message: result.message };
  if (typeof result.value === 'boolean') return { kind: 'done', holds: result.value };
  return { kind: 'failed', message: `expected true or false, found a value of type ${typeof result.value}` };
}

function readValue(routes: CompiledRoutes, item: RoutedItem, name: string): ReturnType<typeof decodeTyped> {
  if (name === 'business') return { kind: 'value', value: routes.business };
  if (name === 'level') return { kind: 'value', value: BigInt(item.level) };
  const sent = item.fields.get(name);
  if (sent?.reference) return { kind: 'error', message: "is kept elsewhere and can't be read by a rule" };
  const bytes = sent?.bytes ?? routes.defaults.get(name);
  if (!bytes) return { kind: 'error', message: 'is absent and has no default' };
  return decodeTyped(routes.types.get(name) ?? FieldType.BYTES, bytes);
}
