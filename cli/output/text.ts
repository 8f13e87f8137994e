// Bytes, times and enums as commands print them.

import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

/** JSON for bytes: text when they are UTF-8 without control characters, else their base64. */
export type PrintedBytes = string | { readonly base64: string };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function printedBytes(bytes: Uint8Array): PrintedBytes {
  try {
    const text = utf8.decode(bytes);
    // Tabs and ends of lines are text; other control characters could drive the terminal of who looks.
    if (/^[^\p{Cc}]*$/u.test(text.replaceAll(/[\t\n\r]/g, ''))) return text;
  } catch {
    // Not UTF-8: below.
  }
  return { base64: Buffer.from(bytes).toString('base64') };
}

/** For tables: on one line, and cut after `maxCharacters`. */
export function shownBytes(bytes: Uint8Array, maxCharacters: number): string {
  const printed = printedBytes(bytes);
  if (typeof printed !== 'string') return `(${bytes.length} bytes)`;
  const line = printed.replaceAll(/\s+/g, ' ');
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}… (${bytes.length} bytes)` : line;
}

/** ISO 8601 in UTC; undefined for a time that isn't set. */
export function printedTime(time: Timestamp | undefined): string | undefined {
  return time && timestampDate(time).toISOString();
}

/** As `printedTime`, of milliseconds since 1970; 0 is not set. */
export function printedMs(timeMs: bigint): string | undefined {
  return timeMs === 0n ? undefined : new Date(Number(timeMs)).toISOString();
}

/** The name of an enum value; '' for the unspecified one, its number for one that is newer than this command. */
export function enumName(names: Readonly<Record<number, string>>, value: number): string {
  return value === 0 ? '' : (names[value] ?? String(value));
}

/** `1,234` */
export function count(value: number | bigint): string {
  return value.toLocaleString('en');
}
