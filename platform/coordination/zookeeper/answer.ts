// What a request to ZooKeeper comes to.

import { Exception } from 'node-zookeeper-client';

export type Answer<T> = { readonly kind: 'done'; readonly value: T } | Problem;

export type Problem =
  | { readonly kind: 'absent' }
  | { readonly kind: 'exists' }
  /** The node's version isn't the expected one. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'not empty' }
  /** No answer; `maybeDone` when the request was sent, so that it may have taken effect. */
  | { readonly kind: 'unavailable'; readonly maybeDone: boolean; readonly cause: string }
  /** The server says no for a reason that trying again doesn't mend: access rights, size. */
  | { readonly kind: 'refused'; readonly cause: string };

export function done<T>(value: T): Answer<T> {
  return { kind: 'done', value };
}

export function unavailable(cause: string, maybeDone = false): Problem {
  return { kind: 'unavailable', maybeDone, cause };
}

/** The one place where the library's errors become values. What has no code comes from the connection. */
export function problemOf(error: Error | Exception): Problem {
  const code = 'code' in error && typeof error.code === 'number' ? error.code : Exception.CONNECTION_LOSS;
  switch (code) {
    case Exception.NO_NODE:
      return { kind: 'absent' };
    case Exception.NODE_EXISTS:
      return { kind: 'exists' };
    case Exception.BAD_VERSION:
      return { kind: 'conflict' };
    case Exception.NOT_EMPTY:
      return { kind: 'not empty' };
    case Exception.CONNECTION_LOSS:
    case Exception.SESSION_EXPIRED:
    case Exception.OPERATION_TIMEOUT:
      return unavailable('the connection was lost', true);
    default:
      return { kind: 'refused', cause: `${error.name} (${code})` };
  }
}

/** For messages to people. */
export function explain(problem: Problem): string {
  return 'cause' in problem ? problem.cause : problem.kind;
}
