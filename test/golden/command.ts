// A line of a golden scenario taken apart: `answer work FAILED message="no room" @attempt=2 result=r`.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import type { FieldValue } from '../../flow/run.ts';

export interface Command {
  readonly verb: string;
  /** What stands by itself. */
  readonly words: readonly string[];
  /** `@name=value`: what is no field. */
  readonly options: ReadonlyMap<string, string>;
  /** `name=value`. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The same fields as inbox events hold them. */
  readonly cells: Readonly<Record<string, { value: Uint8Array }>>;
}

export function readCommand(line: string): Command {
  const [verb = '', ...parts] = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  const words: string[] = [];
  const options = new Map<string, string>();
  const fields = new Map<string, FieldValue>();
  for (const part of parts) {
    const equals = part.indexOf('=');
    const value = unquoted(part.slice(equals + 1));
    if (equals < 0) words.push(value);
    else if (part.startsWith('@')) options.set(part.slice(1, equals), value);
    else fields.set(part.slice(0, equals), { bytes: getTextEncoding().encodeUtf8(value) });
  }
  const cells = Object.fromEntries([...fields].map(([name, { bytes }]) => [name, { value: bytes }]));
  return { verb, words, options, fields, cells };
}

/** Texts with blanks stand in quotes of either kind, JSON in single ones; `@300` is a text of so many letters. */
function unquoted(text: string): string {
  if (/^@\d+$/.test(text)) return 'x'.repeat(Number(text.slice(1)));
  return /^".*"$/.test(text) || /^'.*'$/.test(text) ? text.slice(1, -1) : text;
}

export function durationMs(text: string): number {
  const match = /^(\d+)(ms|s|m|h)$/.exec(text);
  if (!match) throw new Error(`${JSON.stringify(text)} is no duration`);
  return Number(match[1]) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 'ms' | 's' | 'm' | 'h'];
}
