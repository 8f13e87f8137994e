// Writes the meter into a checked expression: everything that takes time or memory in proportion to a value pays for it.
// Numbers and truth values are free, so that an ordinary condition runs as fast as without.

import { meterFunctions } from './functions.ts';
import type { StaticType } from './overloads.ts';
import { accumulator, type Comprehension, childrenOf, type Node } from './syntax.ts';

/** Changes the tree under `node` and returns what stands in its place. `types` comes from check.ts. */
export function instrument(node: Node, types: ReadonlyMap<bigint, StaticType>): Node {
  return isCheap(types.get(node.id)) ? instrumentParts(node, types) : priced(instrumentParts(node, types));
}

function isCheap(type: StaticType | undefined): boolean {
  return type === 'bool' || type === 'int' || type === 'double' || type === 'null_type';
}

/** Puts the price of a value around the node that makes it known. */
function priced(node: Node): Node {
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'identExpr':
      return exprKind.value.name === accumulator ? node : wrap(meterFunctions.read, node);
    case 'selectExpr':
      return wrap(meterFunctions.read, node);
    case 'callExpr':
      if (exprKind.value.function === '_+_') return wrap(meterFunctions.computed, node);
      return exprKind.value.function === '_[_]' ? wrap(meterFunctions.read, node) : node;
    default:
      // Texts in the source are short; the parts of lists and maps have paid for themselves.
      return node;
  }
}

function instrumentParts(node: Node, types: ReadonlyMap<bigint, StaticType>): Node {
  const { exprKind } = node;
  const each = (part: Node): Node => instrument(part, types);
  switch (exprKind.case) {
    case 'selectExpr':
      // Reaching into a value is cheap however large it is.
      if (exprKind.value.operand) exprKind.value.operand = instrumentParts(exprKind.value.operand, types);
      return node;
    case 'callExpr': {
      const call = exprKind.value;
      if (call.target) call.target = each(call.target);
      if (call.target && call.function === 'matches') call.target = wrap(meterFunctions.scan, call.target);
      call.args = call.args.map((part, index) =>
        call.function === '_[_]' && index === 0 ? instrumentParts(part, types) : each(part),
      );
      return node;
    }
    case 'listExpr':
      exprKind.value.elements = exprKind.value.elements.map(each);
      return node;
    case 'structExpr':
      for (const entry of exprKind.value.entries) {
        if (entry.keyKind.case === 'mapKey') entry.keyKind.value = each(entry.keyKind.value);
        if (entry.value) entry.value = each(entry.value);
      }
      return node;
    case 'comprehensionExpr':
      instrumentComprehension(exprKind.value, types);
      return node;
    case 'identExpr':
    case 'constExpr':
    case undefined:
      return node;
  }
}

function instrumentComprehension(comprehension: Comprehension, types: ReadonlyMap<bigint, StaticType>): void {
  const { iterRange, loopCondition, loopStep, result } = comprehension;
  if (!iterRange || !loopCondition || !loopStep) throw new Error('a comprehension without its parts');
  const nodes = countNodes(loopStep);
  comprehension.iterRange = wrap(meterFunctions.range, instrumentParts(iterRange, types));
  comprehension.loopCondition = wrap(meterFunctions.step, instrument(loopCondition, types), constant(nodes));
  comprehension.loopStep = instrumentStep(loopStep, types);
  if (result && isAccumulator(result) && types.get(result.id) === 'list') {
    comprehension.result = wrap(meterFunctions.read, result);
  }
}

/** In a step of map or filter, `accumulator + [element]` becomes an append. */
function instrumentStep(step: Node, types: ReadonlyMap<bigint, StaticType>): Node {
  if (step.exprKind.case !== 'callExpr') return instrument(step, types);
  const call = step.exprKind.value;
  const [first, second, third] = call.args;
  if (call.function === '_?_:_' && first && second && third && isAccumulator(third)) {
    call.args = [instrument(first, types), instrumentStep(second, types), third];
    return step;
  }
  const element = second?.exprKind.case === 'listExpr' ? second.exprKind.value.elements[0] : undefined;
  if (call.function === '_+_' && first && isAccumulator(first) && element) {
    call.function = meterFunctions.append;
    call.args = [first, instrument(element, types)];
    return step;
  }
  return instrument(step, types);
}

function isAccumulator(node: Node): boolean {
  return node.exprKind.case === 'identExpr' && node.exprKind.value.name === accumulator;
}

/** Comprehensions inside count their own rounds; their nodes are counted once here. */
function countNodes(node: Node): number {
  let nodes = 1;
  for (const child of childrenOf(node)) nodes += countNodes(child);
  return nodes;
}

function wrap(name: string, ...args: [Node, ...Node[]]): Node {
  return {
    $typeName: 'cel.expr.Expr',
    id: args[0].id,
    exprKind: { case: 'callExpr', value: { $typeName: 'cel.expr.Expr.Call', function: name, args } },
  };
}

function constant(value: number): Node {
  return {
    $typeName: 'cel.expr.Expr',
    id: 0n,
    exprKind: {
      case: 'constExpr',
      value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'int64Value', value: BigInt(value) } },
    },
  };
}
