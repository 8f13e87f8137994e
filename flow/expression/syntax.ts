// The syntax tree of an expression, under names of our own, and walks over it.

import { parse } from '@bufbuild/cel';
import { expressionLimits } from './limits.ts';
import { bracketNesting } from './nesting.ts';

export type Parsed = ReturnType<typeof parse>;
export type Node = Parsed['expr'];
type Kinds = Node['exprKind'];
export type Call = Extract<Kinds, { case: 'callExpr' }>['value'];
export type Comprehension = Extract<Kinds, { case: 'comprehensionExpr' }>['value'];

/** The accumulator of a comprehension, as the parser names it. */
export const accumulator = '@result';

/** Parses an expression. A refusal says where and why: too long, too deep, not CEL. */
export function parseExpression(source: string): Parsed | { readonly refusal: string } {
  const { maxSourceCharacters, maxNesting, maxDepth } = expressionLimits;
  if (source.trim() === '') return { refusal: 'an expression is needed, found an empty text' };
  if (source.length > maxSourceCharacters) {
    return { refusal: `found ${source.length} characters; an expression has at most ${maxSourceCharacters}` };
  }
  const nesting = bracketNesting(source);
  if (nesting > maxNesting) {
    return { refusal: `found brackets ${nesting} deep inside one another; at most ${maxNesting} are allowed` };
  }
  let parsed: Parsed;
  try {
    parsed = parse(source);
  } catch (error) {
    return { refusal: syntaxMessage(error) };
  }
  const depth = depthOf(parsed.expr);
  if (depth > maxDepth) return { refusal: `found operators ${depth} deep inside one another; at most ${maxDepth}` };
  return parsed;
}

/** The direct parts of a node. */
export function childrenOf(node: Node): Node[] {
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'selectExpr':
      return exprKind.value.operand ? [exprKind.value.operand] : [];
    case 'callExpr':
      return exprKind.value.target ? [exprKind.value.target, ...exprKind.value.args] : exprKind.value.args;
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return exprKind.value.entries.flatMap((entry) => [
        ...(entry.keyKind.case === 'mapKey' ? [entry.keyKind.value] : []),
        ...(entry.value ? [entry.value] : []),
      ]);
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return [iterRange, accuInit, loopCondition, loopStep, result].filter((part) => part !== undefined);
    }
    case 'identExpr':
    case 'constExpr':
    case undefined:
      return [];
  }
}

/** Where a node stands: `line 1, column 5`. */
export function placeOf(source: string, parsed: Parsed, node: Node): string {
  const offset = parsed.sourceInfo?.positions[String(node.id)] ?? 0;
  // The parser counts the blanks before an operator as part of it.
  const before = source.slice(0, offset + source.slice(offset).search(/\S|$/));
  const line = before.split('\n').length;
  return `line ${line}, column ${before.length - before.lastIndexOf('\n')}`;
}

/** Without recursion: the tree may be deeper than the stack. */
function depthOf(root: Node): number {
  let depth = 0;
  for (let level: Node[] = [root]; level.length > 0; level = level.flatMap(childrenOf)) depth += 1;
  return depth;
}

/** The parser throws errors that carry a location, and plain ones for what it finds in texts and numbers. */
function syntaxMessage(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  const { location, rawMessage } = error as {
    readonly location?: { readonly start: { readonly line: number; readonly column: number } };
    readonly rawMessage?: string;
  };
  if (!location || rawMessage === undefined) return error.message;
  return `line ${location.start.line}, column ${location.start.column}: ${rawMessage}`;
}
