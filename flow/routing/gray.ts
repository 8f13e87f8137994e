// Which items a gray release takes. The answer depends on the release and the item alone, so it is the same in every process.

import type { Gray } from '../../proto/gen/weir/flow/v1/releases_pb.js';
import { latin1 } from '../run-id.ts';

/** What a release looks at of an item. */
export interface ReleasedItem {
  readonly business: string;
  readonly key: Uint8Array;
}

/** A gray release made ready to be asked: once per release, not per item. */
export interface GrayChoice {
  readonly version: number;
  readonly shareBasisPoints: number;
  readonly businesses: ReadonlySet<string>;
  /** Keys as Latin-1. */
  readonly keys: ReadonlySet<string>;
  /** Of the hash: tells one flow's choice from another's. */
  readonly salt: string;
}

/** A whole, in basis points. */
export const wholeBasisPoints = 10_000;

export function compileGray(flow: string, gray: Gray): GrayChoice {
  return {
    version: gray.version,
    shareBasisPoints: gray.shareBasisPoints,
    businesses: new Set(gray.businesses),
    keys: new Set(gray.keys.map(latin1)),
    salt: `gray/${flow}/`,
  };
}

/** Whether an item gets the gray version: its business line or its key is named, or it lies in the share. */
export function takesGray(choice: GrayChoice, { business, key }: ReleasedItem): boolean {
  if (choice.businesses.has(business)) return true;
  const text = latin1(key);
  return choice.keys.has(text) || placeOf(choice.salt + text) < choice.shareBasisPoints;
}

/**
 * A place from 0 to 9,999 that never changes: a share of n takes the places below n, so a larger share takes all of a smaller
 * one. FNV-1a, finished by MurmurHash3's mixer. The salt keeps it apart from the hash that shards are chosen by, and from other
 * flows, so that neither a shard nor an item is always among the first.
 */
function placeOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % wholeBasisPoints;
}
