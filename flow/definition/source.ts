// From text to a tree of plain values with their places. The only file that knows the YAML library: what it can do beyond
// JSON-like values (anchors, tags, several documents) is refused here, and so is what would make it recurse too deep.

import {
  Composer,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type YAMLMap,
} from 'yaml';
import { flowLimits } from './limits.ts';
import { childPath, type FlowProblem, type Position, quoted } from './problem.ts';
import type { RuleId } from './rules.ts';

export type SourceNode = SourceMap | SourceList | SourceScalar;

export interface SourceMap extends Position {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, SourceEntry>;
}

export interface SourceEntry {
  /** Of the key. */
  readonly position: Position;
  readonly value: SourceNode;
}

export interface SourceList extends Position {
  readonly kind: 'list';
  readonly items: readonly SourceNode[];
}

export interface SourceScalar extends Position {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As written, so that no digit of a number is lost. */
  readonly text: string;
}

export type SourceResult =
  | { readonly kind: 'source'; readonly root: SourceNode; readonly problems: readonly FlowProblem[] }
  | { readonly kind: 'problems'; readonly problems: readonly FlowProblem[] };

/** Reads a text; `what` it should hold is for messages. Problems beside a root are of single values; the rest of the text can still be checked. */
export function readSource(text: string, what = 'a flow'): SourceResult {
  if (text.length > flowLimits.maxFlowBytes || utf8Bytes(text) > flowLimits.maxFlowBytes) {
    return refused('syntax.size', `the text has more than ${flowLimits.maxFlowBytes} bytes`, { line: 1, column: 1 });
  }
  const lines = new LineCounter();
  const placeAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const tokens = tokenize(text.replace(/^\uFEFF/, ''), lines);
  if (tokens.kind === 'refused') return refused(tokens.rule, tokens.message, placeAt(tokens.offset));
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  });
  const documents = [...composer.compose(tokens.tokens, true, text.length)];
  const [document, second] = documents;
  const errors = documents.flatMap((each) => each.errors);
  if (errors.length > 0) {
    const problems = errors
      .slice(0, flowLimits.maxProblems)
      .map((error) => problem('syntax.yaml', '', `not YAML: ${error.message}`, placeAt(error.pos[0])));
    return { kind: 'problems', problems };
  }
  if (second) {
    const offset = second.contents?.range[0] ?? second.range[0];
    return refused(
      'syntax.documents',
      `a second document begins here; a text holds ${what.replace(/^an? /, 'one ')}`,
      placeAt(offset),
    );
  }
  if (!document?.contents)
    return refused('shape.required', `the text is empty; ${what} is needed`, { line: 1, column: 1 });
  const conversion: Conversion = { placeAt, problems: [] };
  const root = convert(conversion, document.contents, '');
  return { kind: 'source', root, problems: conversion.problems };
}

type Token = ReturnType<Parser['next']> extends Iterable<infer Each> ? Each : never;

type Tokens =
  | { readonly kind: 'tokens'; readonly tokens: readonly Token[] }
  | { readonly kind: 'refused'; readonly rule: RuleId; readonly message: string; readonly offset: number };

/** The library's first stage keeps its own stack, which is watched here; the next one recurses, and is slow on errors. */
function tokenize(text: string, lines: LineCounter): Tokens {
  const { maxTextNesting, maxTextTokens } = flowLimits;
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const refusal = (rule: RuleId, message: string): Tokens => ({
    kind: 'refused',
    rule,
    message,
    offset: parser.offset,
  });
  const tokens: Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // A level of the text is up to three tokens on that stack.
    if (parser.stack.length > 3 * maxTextNesting) {
      return refusal('syntax.nesting', `the text has more than ${maxTextNesting} levels`);
    }
    if (++lexemes > maxTextTokens) return refusal('syntax.size', `the text has more than ${maxTextTokens} tokens`);
  }
  for (const token of parser.end()) tokens.push(token);
  return { kind: 'tokens', tokens };
}

interface Conversion {
  readonly placeAt: (offset: number) => Position;
  readonly problems: FlowProblem[];
}

function convert(conversion: Conversion, node: ParsedNode, path: string): SourceNode {
  const position = conversion.placeAt(node.range[0]);
  const report = (rule: RuleId, message: string): void => {
    if (conversion.problems.length < flowLimits.maxProblems)
      conversion.problems.push(problem(rule, path, message, position));
  };
  if (isAlias(node)) {
    report('syntax.alias', `found the alias *${node.source}; write the value out`);
    return { kind: 'scalar', value: null, text: '', ...position };
  }
  if (node.anchor !== undefined) report('syntax.alias', `found the anchor &${node.anchor}; anchors are not used`);
  if (node.tag !== undefined) report('syntax.tag', `found the tag ${quoted(node.tag)}; tags are not used`);
  if (isSeq(node)) {
    const items = node.items.map((item, index) => convert(conversion, item, `${path}[${index}]`));
    return { kind: 'list', items, ...position };
  }
  if (isMap(node)) return { kind: 'map', entries: convertEntries(conversion, node, path), ...position };
  if (isScalar(node)) return { ...position, kind: 'scalar', value: plainValue(node.value), text: node.source };
  throw new Error('a YAML node of no known kind');
}

function convertEntries(conversion: Conversion, map: YAMLMap.Parsed, path: string): ReadonlyMap<string, SourceEntry> {
  const entries = new Map<string, SourceEntry>();
  for (const { key, value } of map.items) {
    const position = conversion.placeAt(key.range[0]);
    const report = (rule: RuleId, at: string, message: string): void => {
      if (conversion.problems.length < flowLimits.maxProblems)
        conversion.problems.push(problem(rule, at, message, position));
    };
    if (!isScalar(key) || typeof key.value !== 'string') {
      const at = isScalar(key) ? childPath(path, key.source ?? '') : path;
      const found = isScalar(key) ? key.source || 'nothing' : 'a list or map';
      report('syntax.key', at, `a key must be text, found ${found}; put it in quotes`);
      continue;
    }
    if (key.anchor !== undefined || key.tag !== undefined) {
      report('syntax.key', path, `the key ${quoted(key.value)} has an anchor or a tag; keys are plain text`);
    }
    const at = childPath(path, key.value);
    const earlier = entries.get(key.value);
    if (earlier) {
      const { line } = earlier.position;
      report('syntax.duplicate-key', at, `the key ${quoted(key.value)} stands here again; first in line ${line}`);
      continue;
    }
    const absent: SourceScalar = { kind: 'scalar', value: null, text: '', ...position };
    entries.set(key.value, { position, value: value ? convert(conversion, value, at) : absent });
  }
  return entries;
}

function plainValue(value: unknown): string | number | boolean | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair stands for two of its four bytes.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

function problem(rule: RuleId, path: string, message: string, { line, column }: Position): FlowProblem {
  return { rule, path, message, line, column };
}

function refused(rule: RuleId, message: string, position: Position): SourceResult {
  return { kind: 'problems', problems: [problem(rule, '', message, position)] };
}
