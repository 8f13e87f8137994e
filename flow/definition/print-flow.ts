// A flow as YAML, for flows that come from elsewhere: an import, a drawing. What an author wrote is kept as written and never printed
// from its message.

import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { authoredFlow, type Tree, type TreeMap } from './authored.ts';
import { durationForm } from './duration.ts';

/** Characters of a line. Expressions are not broken, so that one may be longer. */
const maxWidth = 120;

/** Characters before a member of a member of a step. */
const maxIndent = 6;

/** Keys of a flow whose members stand on lines of their own even where all of them would fit on one. */
const blockKeys: ReadonlySet<string> = new Set(['fields', 'steps', 'on_exit']);

/** Texts that need no quotes: all words but those that YAML reads as another value. */
const plainForm = /^(?!(?:true|false|null)$)[A-Za-z][A-Za-z0-9_.-]*$/i;

/** Text that `parseFlow` reads as `flow` again: a step on a line where it fits. */
export function printFlow(flow: Flow): string {
  const lines = Object.entries(authoredFlow(flow)).flatMap(([key, value]) =>
    blockKeys.has(key) ? [`${key}:`, ...indented(members(value))] : member(key, value),
  );
  return `${lines.join('\n')}\n`;
}

function members(tree: Tree): string[] {
  if (isList(tree)) return tree.map((item) => `- ${onOneLine(item)}`);
  if (isMap(tree)) return Object.entries(tree).flatMap(([key, value]) => member(key, value));
  throw new Error('only lists and maps have members');
}

/** On one line if there is room beside the deepest indent; else what it holds is below it. */
function member(key: string, value: Tree): string[] {
  if (typeof value === 'string' && isSeveralLines(value)) return [`${scalar(key)}: |-`, ...indented(value.split('\n'))];
  const line = `${scalar(key)}: ${onOneLine(value)}`;
  const hasMembers = isList(value) || isMap(value);
  return line.length <= maxWidth - maxIndent || !hasMembers ? [line] : [`${scalar(key)}:`, ...indented(members(value))];
}

function onOneLine(tree: Tree): string {
  if (isList(tree)) return `[${tree.map(onOneLine).join(', ')}]`;
  if (!isMap(tree)) return scalar(tree);
  const entries = Object.entries(tree).map(([key, value]) => `${scalar(key)}: ${onOneLine(value)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** Texts that need quotes stand in them as in JSON, of which YAML knows every escape; one that has such quotes, in single ones. */
function scalar(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  if (plainForm.test(value) || durationForm.test(value)) return value;
  if (value.includes('"') && !/['\\]|\p{C}|\p{Zl}|\p{Zp}/u.test(value)) return `'${value}'`;
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (sign) => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Whether a text can be written line by line without losing a sign: no line is empty, begins or ends with a blank. */
function isSeveralLines(text: string): boolean {
  const lines = text.split('\n');
  return (
    lines.length > 1 && lines.every((line) => line !== '' && line.trim() === line && !/\p{C}|\p{Zl}|\p{Zp}/u.test(line))
  );
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

function isMap(tree: Tree): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree);
}
