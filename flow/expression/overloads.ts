// Which operands a function takes and what it gives, from the library's own table of overloads.

import { environment } from './functions.ts';

/** `dyn`: known at run time only. */
export type StaticType = 'string' | 'int' | 'double' | 'bool' | 'null_type' | 'list' | 'map' | 'dyn';

/** `a string`, `an int`. */
export function withArticle(type: StaticType): string {
  return `${type === 'int' ? 'an' : 'a'} ${type}`;
}

const known: ReadonlySet<string> = new Set(['string', 'int', 'double', 'bool', 'null_type', 'list', 'map', 'dyn']);

/** What is wrong with the operands of a call, or undefined. */
export function operandProblem(
  name: string,
  target: StaticType | undefined,
  operands: readonly StaticType[],
): string | undefined {
  switch (name) {
    case '_&&_':
    case '_||_':
    case '!_':
      return notBool(operands, name.replaceAll('_', ''));
    case '_?_:_':
      return notBool(operands.slice(0, 1), '?:');
    case '_[_]':
      return ['list', 'map', 'dyn'].includes(operands[0] ?? 'dyn')
        ? undefined
        : `${withArticle(operands[0] ?? 'dyn')} has no elements`;
    case '@not_strictly_false':
      return undefined;
    case '_==_':
    case '_!=_':
      return neverEqual(operands);
    default:
      if (overloads(name, target, operands).length > 0) return undefined;
      return `${shown(name)} does not take ${target ? `${withArticle(target)} with ` : ''}(${operands.join(', ')})${hint(operands)}`;
  }
}

/** The type of what a call gives: `dyn` when it depends on values. */
export function resultType(name: string, target: StaticType | undefined, operands: readonly StaticType[]): StaticType {
  switch (name) {
    case '_&&_':
    case '_||_':
    case '@not_strictly_false':
      return 'bool';
    case '_?_:_':
      return operands[1] === operands[2] ? (operands[1] ?? 'dyn') : 'dyn';
    case '_[_]':
      return 'dyn';
    default: {
      const results = new Set(overloads(name, target, operands).map((overload) => overload.result.name));
      const [only] = results;
      return results.size === 1 && isStatic(only) ? only : 'dyn';
    }
  }
}

function overloads(name: string, target: StaticType | undefined, operands: readonly StaticType[]) {
  const group = environment.funcs.find(name);
  if (!group) return [];
  return [...group].filter(
    (overload) =>
      (overload.target === undefined) === (target === undefined) &&
      takes(overload.target?.name, target) &&
      overload.arguments.length === operands.length &&
      overload.arguments.every((argument, index) => takes(argument.name, operands[index])),
  );
}

function takes(wanted: string | undefined, found: StaticType | undefined): boolean {
  if (wanted === undefined || wanted === 'dyn' || wanted === found) return true;
  // JSON never holds bytes, times or unsigned numbers, so what is known at run time only is none of these.
  return found === 'dyn' && isStatic(wanted);
}

function isStatic(name: string | undefined): name is StaticType {
  return name !== undefined && known.has(name);
}

function notBool(operands: readonly StaticType[], operator: string): string | undefined {
  const other = operands.find((operand) => operand !== 'bool' && operand !== 'dyn');
  return other && `${operator} takes bool, found ${other}`;
}

function neverEqual([left = 'dyn', right = 'dyn']: readonly StaticType[]): string | undefined {
  const isNumber = (type: StaticType): boolean => type === 'int' || type === 'double';
  if (left === right || left === 'dyn' || right === 'dyn' || (isNumber(left) && isNumber(right))) return undefined;
  return `${withArticle(left)} never equals ${withArticle(right)}`;
}

function hint(operands: readonly StaticType[]): string {
  return operands.includes('int') && operands.includes('double') ? '; write 1.0 instead of 1, or double(…)' : '';
}

/** Operators as authors write them. */
function shown(name: string): string {
  if (name === '@in') return 'in';
  return name.replaceAll('_', '') || name;
}
