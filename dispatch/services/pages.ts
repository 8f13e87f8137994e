// Pages of lists. A token is opaque to callers: it holds the store's place and what was asked, so that a token of another
// question is refused instead of giving a page of nonsense.

import { createHash } from 'node:crypto';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { maxPageRows } from '../../store/paging.ts';

/** Rows of a page when the caller says nothing: fills a screen or two. */
const defaultPageRows = 100;

/** Rows asked for; throws INVALID_ARGUMENT when they are more than a page has. */
export function pageSize(asked: number): number {
  if (asked <= maxPageRows) return asked === 0 ? defaultPageRows : asked;
  throw new RpcError(
    Code.INVALID_ARGUMENT,
    `page_size: found ${asked}, allowed are 1 to ${maxPageRows}, and 0 for ${defaultPageRows}`,
  );
}

/** `question` is all that chooses the rows and their order. `place` is the store's; absent at the end of the list. */
export function pageToken(question: unknown, place: string | undefined): string {
  if (place === undefined) return '';
  return Buffer.from(`${fingerprint(question)}${place}`).toString('base64url');
}

/** The store's place that a token holds; undefined for the first page. Throws INVALID_ARGUMENT for a token of another question. */
export function placeOf(question: unknown, token: string): string | undefined {
  if (token === '') return undefined;
  const text = Buffer.from(token, 'base64url').toString();
  const expected = fingerprint(question);
  if (!text.startsWith(expected)) throw wrongToken();
  return text.slice(expected.length);
}

/** Reads a page. A place that the store doesn't know, told by its RangeError, came from a token that was tampered with. */
export async function readPage<Page>(read: () => Promise<Page>): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RangeError) throw wrongToken(error);
    throw error;
  }
}

function wrongToken(cause?: unknown): RpcError {
  const message = 'page_token: is not one of this list; take next_page_token of the page before, with the same filter';
  return new RpcError(Code.INVALID_ARGUMENT, message, { cause });
}

function fingerprint(question: unknown): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 8);
}
