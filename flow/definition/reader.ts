// Reads single values out of a text's tree. A value of the wrong form is reported and read as absent, so that the rest is
// still checked and every problem is found at once.

import { didYouMean } from '../nearest-name.ts';
import { parseDuration } from './duration.ts';
import { childPath, quoted, type Report } from './problem.ts';
import type { SourceList, SourceMap, SourceNode, SourceScalar } from './source.ts';

/** A value and where it stands. */
export interface Located<Node extends SourceNode = SourceNode> {
  readonly node: Node;
  readonly path: string;
}

/** What the keys of a map hold, by name. */
export type Members<Key extends string> = Partial<Readonly<Record<Key, Located>>>;

/** The members of a map by the names that are allowed; others are reported, with the nearest name. */
export function readMembers<Key extends string>(
  report: Report,
  located: Located,
  allowed: readonly Key[],
  what: string,
): Members<Key> {
  const map = readMap(report, located, what);
  const members: Partial<Record<Key, Located>> = {};
  for (const [key, { value }] of map?.entries ?? []) {
    const path = childPath(located.path, key);
    if (isOneOf(allowed, key)) members[key] = { node: value, path };
    else {
      const nearest = didYouMean(key, allowed) || `; allowed are ${allowed.join(', ')}`;
      report('shape.unknown-key', path, `${what} has no key ${quoted(key)}${nearest}`);
    }
  }
  return members;
}

/** Which of the keys `kinds` a map has; undefined, and reported, when it has none or several. */
export function oneKeyOf<Kind extends string>(
  report: Report,
  { node, path }: Located,
  kinds: readonly Kind[],
  what: string,
): Kind | undefined {
  if (node.kind !== 'map') return undefined;
  const found = kinds.filter((kind) => node.entries.has(kind));
  if (found.length === 1) return found[0];
  const among = found.length === 0 ? 'none' : found.join(' and ');
  report('shape.kind', path, `${what} has exactly one of the keys ${kinds.join(', ')}, found ${among}`);
  return undefined;
}

/** Reports the `required` keys that a map doesn't have. */
export function requireKeys<Key extends string>(
  report: Report,
  { node, path }: Located,
  members: Members<Key>,
  required: readonly Key[],
  what: string,
): void {
  if (node.kind !== 'map') return;
  for (const key of required) {
    if (!members[key]) report('shape.required', path, `${what} needs the key '${key}'`);
  }
}

export function readMap(report: Report, { node, path }: Located, what: string): SourceMap | undefined {
  if (node.kind === 'map') return node;
  report('shape.value', path, `${what} is a map, found ${described(node)}`);
  return undefined;
}

function readList(report: Report, { node, path }: Located, what: string): SourceList | undefined {
  if (node.kind === 'list') return node;
  report('shape.value', path, `a list of ${what} is needed, found ${described(node)}`);
  return undefined;
}

/** Items of a list; none when it is absent. */
export function readItems(report: Report, located: Located | undefined, what: string): Located[] {
  const list = located && readList(report, located, what);
  return (list?.items ?? []).map((node, index) => ({ node, path: `${located?.path}[${index}]` }));
}

export function readText(report: Report, { node, path }: Located, what: string): string | undefined {
  if (node.kind === 'scalar' && typeof node.value === 'string') return node.value;
  const hint = node.kind === 'scalar' && node.value !== null ? '; put it in quotes' : '';
  report('shape.value', path, `${what} is a text, found ${described(node)}${hint}`);
  return undefined;
}

/** A list of names. An item that is no text stays as an empty name, so that the places of the others are right. */
export function readNames(report: Report, located: Located | undefined, what: string): string[] {
  return readItems(report, located, what).map((item) => readText(report, item, 'a name') ?? '');
}

/** The text of an expression; empty when it is absent. */
export function readExpression(report: Report, located: Located | undefined): string {
  if (!located) return '';
  const source = readText(report, located, 'an expression');
  if (source === '') report('expressions.valid', located.path, 'an expression is needed, found an empty text');
  return source ?? '';
}

/** Milliseconds. */
export function readDuration(report: Report, located: Located | undefined, absentMs: number): bigint {
  if (!located) return BigInt(absentMs);
  const { node, path } = located;
  const durationMs = node.kind === 'scalar' ? parseDuration(node.text) : undefined;
  if (durationMs !== undefined) return BigInt(durationMs);
  report('shape.duration', path, `a duration such as 200ms, 2s, 10m, 24h or 7d is needed, found ${described(node)}`);
  return BigInt(absentMs);
}

/** A count from `least` on that fits 32 bits. */
export function readCount(report: Report, located: Located | undefined, absent: number, least = 0): number {
  if (!located) return absent;
  const value = countIn(located.node, least);
  if (value !== undefined) return value;
  const wanted = least === 0 ? 'a whole number' : `a whole number from ${least}`;
  report('shape.number', located.path, `${wanted} is needed, found ${described(located.node)}`);
  return absent;
}

/** As `readCount`, or a word that stands for a number. */
export function readCountOrWord(
  report: Report,
  located: Located | undefined,
  absent: number,
  words: ReadonlyMap<string, number>,
  least = 0,
): number {
  if (!located) return absent;
  const { node, path } = located;
  const value = isText(node) ? words.get(node.value) : countIn(node, least);
  if (value !== undefined) return value;
  const allowed = [`a whole number${least === 0 ? '' : ` from ${least}`}`, ...words.keys()].join(' or ');
  report('shape.number', path, `${allowed} is needed, found ${described(node)}`);
  return absent;
}

function countIn(node: SourceNode, least: number): number | undefined {
  const value = node.kind === 'scalar' ? node.value : undefined;
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value < 2 ** 32 ? value : undefined;
}

/** One of a few words, and what stands for it. */
export function readWord<Value>(
  report: Report,
  { node, path }: Located,
  words: ReadonlyMap<string, Value>,
  what: string,
): Value | undefined {
  const text = isText(node) ? node.value : undefined;
  const value = text === undefined ? undefined : words.get(text);
  if (value !== undefined) return value;
  const nearest = text === undefined ? '' : didYouMean(text, words.keys());
  const allowed = nearest || `; allowed are ${[...words.keys()].join(', ')}`;
  report('shape.word', path, `${what} cannot be ${described(node)}${allowed}`);
  return undefined;
}

/** The value that a text's tree stands for, as JSON has it. */
export function plainJson(node: SourceNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plainJson);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plainJson(value)]));
  }
}

/** For messages: what a value is, in a few words. */
export function described(node: SourceNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'nothing';
  return isText(node) ? quoted(node.value) : `the ${typeof node.value} ${node.text.slice(0, 40)}`;
}

function isText(node: SourceNode): node is SourceScalar & { readonly value: string } {
  return node.kind === 'scalar' && typeof node.value === 'string';
}

function isOneOf<Key extends string>(allowed: readonly Key[], key: string): key is Key {
  return (allowed as readonly string[]).includes(key);
}
