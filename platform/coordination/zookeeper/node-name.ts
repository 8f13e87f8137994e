import { createHash } from 'node:crypto';

/** Characters of a name that stand in a node's name for people. */
const maxShown = 60;

/**
 * A node's name made of what it says: the same data has the same name in every session, other data has another, and no id can break
 * the tree. `shown` is for people who look at the tree.
 */
export function nodeName(shown: string, data: Uint8Array): string {
  const readable = shown.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, maxShown);
  return `${readable}.${createHash('sha256').update(data).digest('base64url').slice(0, 22)}`;
}
