// Finds what is wrong with an expression before it runs: names that are not declared, functions that do not exist, values of
// types that do not fit. What comes out of JSON is known at run time only and fits everywhere (`dyn`).

import { isCelError } from '@bufbuild/cel';
import { FieldType } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { didYouMean } from '../nearest-name.ts';
import { environment, functionNames, operatorNames } from './functions.ts';
import { expressionLimits } from './limits.ts';
import { operandProblem, resultType, type StaticType, withArticle } from './overloads.ts';
import { type Call, type Comprehension, type Node, type Parsed, placeOf } from './syntax.ts';

export interface Checked {
  readonly problems: readonly string[];
  /** Declared fields that it reads, each once, in the order of their first mention. */
  readonly fields: readonly string[];
  /** By node id. */
  readonly types: ReadonlyMap<bigint, StaticType>;
  /** Of the whole. */
  readonly type: StaticType;
}

const typesOfFields: Readonly<Record<FieldType, StaticType | undefined>> = {
  [FieldType.UNSPECIFIED]: undefined,
  [FieldType.BYTES]: undefined,
  [FieldType.STRING]: 'string',
  [FieldType.INT]: 'int',
  [FieldType.DOUBLE]: 'double',
  [FieldType.BOOL]: 'bool',
  [FieldType.JSON]: 'dyn',
};

/** The static type of a field, or undefined for bytes, which expressions can't read. */
export function staticTypeOf(type: FieldType): StaticType | undefined {
  return typesOfFields[type];
}

/** What the parser replaces; as calls they come here only when they are written wrongly. */
const macroNames: readonly string[] = ['has', 'all', 'exists', 'exists_one', 'filter', 'map'];

interface Walk {
  readonly declared: ReadonlyMap<string, FieldType>;
  readonly fields: Set<string>;
  readonly types: Map<bigint, StaticType>;
  readonly report: (node: Node, message: string) => void;
}

/** Variables of the comprehensions around a node. */
type Scope = ReadonlyMap<string, StaticType>;

export function checkExpression(source: string, parsed: Parsed, declared: ReadonlyMap<string, FieldType>): Checked {
  const problems: string[] = [];
  const walk: Walk = {
    declared,
    fields: new Set(),
    types: new Map(),
    report: (node, message) => problems.push(`${placeOf(source, parsed, node)}: ${message}`),
  };
  const type = typeOf(walk, parsed.expr, new Map(), 0);
  return { problems, fields: [...walk.fields], types: walk.types, type };
}

function typeOf(walk: Walk, node: Node, scope: Scope, comprehensions: number): StaticType {
  const type = visit(walk, node, scope, comprehensions);
  walk.types.set(node.id, type);
  return type;
}

function visit(walk: Walk, node: Node, scope: Scope, comprehensions: number): StaticType {
  const { exprKind } = node;
  const inner = (part: Node | undefined): StaticType => (part ? typeOf(walk, part, scope, comprehensions) : 'dyn');
  switch (exprKind.case) {
    case 'identExpr':
      return typeOfName(walk, node, exprKind.value.name, scope);
    case 'constExpr':
      return typeOfConstant(walk, node, exprKind.value.constantKind.case);
    case 'selectExpr': {
      const operand = inner(exprKind.value.operand);
      if (operand !== 'dyn' && operand !== 'map') {
        walk.report(
          node,
          `${withArticle(operand)} has no member '${exprKind.value.field}'; only JSON objects have members`,
        );
      }
      return exprKind.value.testOnly ? 'bool' : 'dyn';
    }
    case 'listExpr':
      exprKind.value.elements.forEach(inner);
      return 'list';
    case 'structExpr':
      if (exprKind.value.messageName !== '') {
        walk.report(node, `no type '${exprKind.value.messageName}' exists; a map is written { 'key': value }`);
      }
      for (const entry of exprKind.value.entries) {
        if (entry.keyKind.case === 'mapKey') inner(entry.keyKind.value);
        inner(entry.value);
      }
      return 'map';
    case 'callExpr':
      return typeOfCall(walk, node, exprKind.value, inner);
    case 'comprehensionExpr':
      return typeOfComprehension(walk, node, exprKind.value, scope, comprehensions + 1);
    case undefined:
      return 'dyn';
  }
}

function typeOfName(walk: Walk, node: Node, name: string, scope: Scope): StaticType {
  const variable = scope.get(name);
  if (variable) return variable;
  const declared = walk.declared.get(name);
  if (declared === undefined) {
    walk.report(node, `'${name}' is not a declared field${didYouMean(name, walk.declared.keys())}`);
    return 'dyn';
  }
  walk.fields.add(name);
  const type = typesOfFields[declared];
  if (!type) walk.report(node, `'${name}' is declared as bytes, which expressions cannot read; declare another type`);
  return type ?? 'dyn';
}

function typeOfConstant(walk: Walk, node: Node, kind: string | undefined): StaticType {
  switch (kind) {
    case 'int64Value':
      return 'int';
    case 'doubleValue':
      return 'double';
    case 'stringValue':
      return 'string';
    case 'boolValue':
      return 'bool';
    case 'nullValue':
      return 'null_type';
    default:
      walk.report(node, `unsigned numbers and bytes are not available; allowed are string, int, double, bool, null`);
      return 'dyn';
  }
}

function typeOfCall(walk: Walk, node: Node, call: Call, inner: (part: Node) => StaticType): StaticType {
  const isMacro = macroNames.includes(call.function);
  // What stands in a macro that is written wrongly names no fields.
  const target = isMacro ? undefined : call.target && inner(call.target);
  const operands = isMacro ? [] : call.args.map(inner);
  if (!operatorNames.has(call.function) && !functionNames.has(call.function)) {
    walk.report(node, unknownFunction(call));
    return 'dyn';
  }
  const problem = operandProblem(call.function, target, operands) ?? patternProblem(call);
  if (problem !== undefined) walk.report(node, problem);
  return resultType(call.function, target, operands);
}

function unknownFunction(call: Call): string {
  if (call.function === 'has') return `has(…) asks for a member, as in has(field.member)`;
  if (macroNames.includes(call.function)) {
    return `${call.function}(…) is written list.${call.function}(name, expression)`;
  }
  const known = [...functionNames, ...macroNames].sort();
  const nearest = didYouMean(call.function, known);
  return `no function '${call.function}' exists${nearest || `; functions are ${known.join(', ')}`}`;
}

/** A pattern is part of the flow, so that a wrong one is refused with it and no item brings its own. */
function patternProblem(call: Call): string | undefined {
  if (call.function !== 'matches') return undefined;
  const constant = call.args[0]?.exprKind;
  const kind = constant?.case === 'constExpr' ? constant.value.constantKind : undefined;
  if (kind?.case !== 'stringValue') return 'the pattern of matches must be a text in quotes';
  if (kind.value.length <= expressionLimits.maxPatternCharacters) {
    const trial = environment.funcs.find('matches')?.call(0, '', [kind.value]);
    return isCelError(trial) ? trial.message : undefined;
  }
  return `the pattern has ${kind.value.length} characters; at most ${expressionLimits.maxPatternCharacters} are allowed`;
}

function typeOfComprehension(
  walk: Walk,
  node: Node,
  comprehension: Comprehension,
  scope: Scope,
  depth: number,
): StaticType {
  const { accuInit, accuVar, iterRange, iterVar, loopCondition, loopStep, result } = comprehension;
  const most = expressionLimits.maxComprehensionNesting;
  if (depth === most + 1) walk.report(node, `comprehensions stand ${depth} deep inside one another; at most ${most}`);
  const inner = (part: Node | undefined, names: Scope): StaticType => (part ? typeOf(walk, part, names, depth) : 'dyn');
  // The range is not repeated, so it counts as standing beside the comprehension.
  const range = iterRange ? typeOf(walk, iterRange, scope, depth - 1) : 'dyn';
  if (range !== 'dyn' && range !== 'list' && range !== 'map') {
    walk.report(node, `${withArticle(range)} has no elements; only lists and maps have`);
  }
  const withAccumulator = new Map(scope).set(accuVar, inner(accuInit, scope));
  const withElement = new Map(withAccumulator).set(iterVar, 'dyn');
  inner(loopCondition, withElement);
  inner(loopStep, withElement);
  return inner(result, withAccumulator);
}
