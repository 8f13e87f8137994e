// How the run that a step starts is called: after the step's path and round, so that it is the same whoever starts it.

import { getTextEncoding } from '@bufbuild/protobuf/wire';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { actionOf } from './action-of.ts';
import type { Draft } from './draft.ts';
import type { ChildName } from './effect.ts';
import { callKey } from './run-id.ts';

/**
 * Characters of a name that says in full where it comes from. The name of a child of a child contains the name before it, and keys of
 * items have an end: a longer one stands as its digest.
 */
const maxPlainCharacters = 256;

export function childName(draft: Draft, path: string): ChildName {
  const action = actionOf(draft, path);
  if (action?.kind !== 'sub_flow' && action?.kind !== 'start_flow') throw new Error(`invariant: ${path} starts no run`);
  return {
    flow: action.flow,
    version: action.kind === 'sub_flow' ? action.version : 0,
    itemKey: getTextEncoding().encodeUtf8(childKey(draft, path)),
  };
}

/** The key of the run that a step starts in its present round: ASCII. */
export function childKey(draft: Draft, path: string): string {
  const key = callKey(draft.runId, path, draft.step(path)?.round ?? 1);
  return key.length <= maxPlainCharacters ? key : `~${bytesToHex(sha256(getTextEncoding().encodeUtf8(key)))}`;
}
