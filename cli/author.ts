import { userInfo } from 'node:os';

/** The author of a change: who was named, else the account that the command runs under; empty when that has no name. */
export function authorOf(named: string | undefined): string {
  if (named !== undefined) return named;
  try {
    return userInfo().username;
  } catch {
    // An account without an entry, as in some containers.
    return '';
  }
}
