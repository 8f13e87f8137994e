import type { Field } from '../../proto/gen/weir/module/v1/module_pb.js';
import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { ModuleError, missing, rejected } from './failure.ts';
import type { FieldKind, FieldSpec, FieldSpecs } from './module.ts';
import { decode, formatValue, parseValue } from './value.ts';

/**
 * The typed values of a request. Fields that are not declared are ignored. Throws REQ_MUST_PARAM_MISS or
 * REQ_PKG_PARAM_INVALID with the name of the field.
 */
export function readFields(specs: FieldSpecs, fields: readonly Field[]): Record<string, unknown> {
  const byName = new Map<string, Field>();
  for (const [position, field] of fields.entries()) {
    if (field.key === undefined) throw rejected(`fields[${position}] has no key`);
    const name = decode(field.key);
    if (name === undefined || !Object.hasOwn(specs, name)) continue;
    if (byName.has(name)) throw rejected(`field ${name}: found twice, allowed is once`);
    byName.set(name, field);
  }
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const { kind, optional } = kindOf(spec);
    const field = byName.get(name);
    // A field with neither is a field that nobody wrote.
    if (field?.value === undefined && field?.reference === undefined) {
      if (!optional) throw missing(`field ${name} of type ${kind} is absent`);
      continue;
    }
    const parsed = parseValue(kind, field);
    if ('problem' in parsed) throw rejected(`field ${name}: ${parsed.problem}`);
    values[name] = parsed.value;
  }
  return values;
}

/** The fields of an answer. Throws FAIL_PACK_RSP_PKG with the name of the field when the values are not as declared. */
export function writeFields(specs: FieldSpecs, values: unknown): Field[] {
  if (values === null || typeof values !== 'object')
    throw unpackable(`process returned ${String(values)}, not its fields`);
  const undeclared = Object.keys(values).find((name) => !Object.hasOwn(specs, name));
  if (undeclared !== undefined) {
    throw unpackable(`field ${undeclared}: not declared as output; those are ${Object.keys(specs).join(', ')}`);
  }
  const fields: Field[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    const { kind, optional } = kindOf(spec);
    const value = Object.hasOwn(values, name) ? (values as Record<string, unknown>)[name] : undefined;
    if (value === undefined) {
      if (!optional) throw unpackable(`field ${name} of type ${kind} is absent`);
      continue;
    }
    const field = formatValue(name, kind, value);
    if ('problem' in field) throw unpackable(`field ${name}: ${field.problem}`);
    fields.push(field);
  }
  return fields;
}

/** An answer that can't be put together: FAIL_PACK_RSP_PKG. */
export function unpackable(message: string): ModuleError {
  return new ModuleError(ReturnCode.FAIL_PACK_RSP_PKG, message);
}

function kindOf(spec: FieldSpec): { kind: FieldKind; optional: boolean } {
  const optional = spec.endsWith('?');
  return { kind: (optional ? spec.slice(0, -1) : spec) as FieldKind, optional };
}
