// Expressions of flows: CEL. Total by construction: no loops, no I/O, bounded length, nesting, work and output. In `expression/`:
// syntax (text to tree), check (names and types), instrument and meter (bounded work), functions (the whole table).

import { type CelInput, isCelError, plan } from '@bufbuild/cel';
import { FieldType } from '../proto/gen/weir/flow/v1/flow_pb.js';
import { checkExpression, staticTypeOf } from './expression/check.ts';
import { environment } from './expression/functions.ts';
import { instrument } from './expression/instrument.ts';
import { withBudget } from './expression/meter.ts';
import { type StaticType, withArticle } from './expression/overloads.ts';
import { parseExpression } from './expression/syntax.ts';
import { fieldTypeName } from './field-type.ts';

export type ExpressionResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly message: string };

export interface Expression {
  readonly source: string;
  /** Names of the fields that it reads. */
  readonly fields: readonly string[];
  /** `values` has one entry per field in `fields`, already of its declared type. Never throws. */
  evaluate(values: Readonly<Record<string, unknown>>): ExpressionResult;
}

export type Compilation =
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'invalid'; readonly message: string };

/** What the value of an expression must be: of a field's type, a list, or a time (an int or a string). */
export type Wanted = FieldType | 'list' | 'time';

/**
 * Compiles an expression over the `declared` fields. `wanted` is what its value must be: where its type is known
 * before it runs, another one is refused here, else at run time by whoever uses the value. Of several problems the message
 * names all, each with line and column in `source`.
 */
export function compileExpression(
  source: string,
  declared: ReadonlyMap<string, FieldType>,
  wanted?: Wanted,
): Compilation {
  const parsed = parseExpression(source);
  if ('refusal' in parsed) return { kind: 'invalid', message: parsed.refusal };
  const checked = checkExpression(source, parsed, declared);
  if (checked.problems.length > 0) return { kind: 'invalid', message: checked.problems.join('; ') };
  const allowed = allowedTypes(wanted);
  if (wanted !== undefined && allowed && checked.type !== 'dyn' && !allowed.includes(checked.type)) {
    return {
      kind: 'invalid',
      message: `the value is ${withArticle(checked.type)}, ${wantedName(wanted)} is needed`,
    };
  }
  return { kind: 'expression', expression: planned(source, checked.fields, instrument(parsed.expr, checked.types)) };
}

/** Undefined: any. */
function allowedTypes(wanted: Wanted | undefined): readonly (StaticType | undefined)[] | undefined {
  if (wanted === 'list') return ['list'];
  if (wanted === 'time') return ['int', 'string'];
  // JSON takes a value of any type.
  return wanted === undefined || wanted === FieldType.JSON ? undefined : [staticTypeOf(wanted)];
}

function wantedName(wanted: Wanted): string {
  if (wanted === 'list') return 'list';
  return wanted === 'time' ? 'int or string' : fieldTypeName(wanted);
}

type Tree = Parameters<typeof instrument>[0];

function planned(source: string, fields: readonly string[], tree: Tree): Expression {
  const run = plan(environment, tree);
  return {
    source,
    fields,
    evaluate(values) {
      // The library looks names up on the object itself: without a prototype there is nothing to find but fields.
      const bindings = Object.create(null) as Record<string, CelInput>;
      for (const field of fields) {
        const value = Object.hasOwn(values, field) ? values[field] : undefined;
        if (value === undefined) return { kind: 'error', message: `the field '${field}' has no value` };
        bindings[field] = value as CelInput;
      }
      const result = withBudget(() => run(bindings));
      return isCelError(result) ? { kind: 'error', message: result.message } : { kind: 'value', value: result };
    },
  };
}
