// What flows and routes have in common when they are pushed and released: who did it, and which conflicts there are.

import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Problem } from '../../proto/gen/weir/flow/v1/flows_pb.js';
import type { Release } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { type Audit, auditLimits } from '../../store/catalogue/audit.ts';
import type { Released } from '../../store/catalogue/release-log.ts';
import type { PushResult } from '../../store/catalogue/version-log.ts';
import { count, flowNameProblem } from './names.ts';

/** Who and why, from a request. Throws INVALID_ARGUMENT. */
export function checkAudit({ author, comment = '' }: { readonly author: string; readonly comment?: string }): Audit {
  const { maxAuthorCharacters, maxCommentCharacters } = auditLimits;
  checkLine('author', author, maxAuthorCharacters);
  checkLine('comment', comment, maxCommentCharacters);
  return { author, comment };
}

/** A text of one line. Throws INVALID_ARGUMENT. */
export function checkLine(field: string, text: string, maxCharacters: number): void {
  if (text.length > maxCharacters) {
    const message = `${field}: found ${count(text.length)} characters, at most ${count(maxCharacters)} are allowed`;
    throw new RpcError(Code.INVALID_ARGUMENT, message);
  }
  // Whoever looks at it sees it in a terminal.
  if (/\p{Cc}/u.test(text)) throw new RpcError(Code.INVALID_ARGUMENT, `${field}: control characters are not allowed`);
}

/** Throws INVALID_ARGUMENT for what can't be the name of a flow or a business line. */
export function checkName(field: string, name: string): void {
  const problem = flowNameProblem(name);
  if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `${field}: ${problem}`);
}

/** As problems travel: without the id of their rule. */
export function toProblem({
  path,
  message,
  line,
  column,
}: Pick<Problem, 'path' | 'message' | 'line' | 'column'>): Pick<Problem, 'path' | 'message' | 'line' | 'column'> {
  return { path, message, line, column };
}

/** `what` as in `flow mail`. Says whose version came first. */
export function pushConflict(
  what: string,
  { newest, author, atMs }: Extract<PushResult, { kind: 'conflict' }>,
  expected: number | undefined,
): RpcError {
  const found =
    newest === 0 ? 'has no version yet' : `has version ${newest} as its newest${by(author, new Date(atMs))}`;
  return new RpcError(Code.ABORTED, `expected_version: ${what} ${found}, the request names ${expected}`);
}

/** What came of a release, or a thrown ABORTED or FAILED_PRECONDITION. */
export function releasedOf(
  what: string,
  result: Released,
  expected: number | undefined,
): Extract<Released, { kind: 'done' }> {
  switch (result.kind) {
    case 'done':
      return result;
    case 'conflict': {
      const found = result.current ? `has ${describeRelease(result.current)}` : 'has no release yet';
      throw new RpcError(Code.ABORTED, `expected_release: ${what} ${found}, the request names ${expected}`);
    }
    case 'no such release': {
      const { kept } = result;
      const [first] = kept;
      const found = first === undefined ? 'nothing was released yet' : `kept are ${first} to ${kept.at(-1)}`;
      throw new RpcError(Code.FAILED_PRECONDITION, `${what} has no release to go back to; ${found}`);
    }
  }
}

/** `release 4 (version 3, by ann, 2026-03-01T10:00:00.000Z)` */
function describeRelease({ number, version, author, releasedAt }: Release): string {
  return `release ${number}, version ${version}${by(author, dateOf(releasedAt))}`;
}

function by(author: string, at: Date | undefined): string {
  const parts = [...(author === '' ? [] : [`by ${author}`]), ...(at ? [at.toISOString()] : [])];
  return ` (${parts.join(', ')})`;
}

function dateOf(time: Timestamp | undefined): Date | undefined {
  return time && timestampDate(time);
}
