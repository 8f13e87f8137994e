// Files that a person named on the command line.

import { readFileSync, statSync } from 'node:fs';
import { usageFailure } from './failure.ts';

/** The text of a file. `flag` names it in messages, and is empty for an argument; a file beyond `maxBytes` is refused before it is read. */
export function readTextFile(flag: string, path: string, maxBytes: number): string {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) throw usageFailure(`${named(flag, path)} has ${size} bytes, at most ${maxBytes} are allowed`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw fileFailure(flag, path, error);
  }
}

/** What went wrong with a file, in words. Gives other errors back as they are. */
export function fileFailure(flag: string, path: string, error: unknown): unknown {
  if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return usageFailure(`${named(flag, path)} is not UTF-8`, error);
  }
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  const reasons: Partial<Record<string, string>> = {
    ENOENT: 'does not exist',
    EISDIR: 'is a folder, a file is needed',
    EACCES: 'may not be read',
  };
  return usageFailure(
    `${named(flag, path)} ${reasons[String(error.code)] ?? `cannot be read (${String(error.code)})`}`,
    error,
  );
}

function named(flag: string, path: string): string {
  return flag === '' ? path : `${flag}: ${path}`;
}
