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

/** Milliseconds. */
export function readDuration(report: Report, located: Located | undefined, absentMs: number): bigint {
  if (!located) return BigInt(absentMs);
  const { node, path } = located;
  const durationMs = node.kind === 'scalar' ? parseDuration(node.text) : undefined;
  if (durationMs !== undefined) return BigInt(durationMs);
  report('shape.duration', path, `a duration such as 200ms, 2s, 10m, 24h or 7d is needed, found ${described(node)}`);
  return BigInt(absentMs);
}

/** A count that fits 32 bits. */
export function readCount(report: Report, located: Located | undefined, absent: number): number {
  if (!located) return absent;
  const { node, path } = located;
  const value = node.kind === 'scalar' ? node.value : undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32) return value;
  report('shape.number', path, `a whole number is needed, found ${described(node)}`);
  return absent;
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
