// Names of runs. A RunId is one string so that it can be a map key; its form is `generation/business/flow/key` with each
// byte of the item's key as one Latin-1 character. Business and flow names contain no slash, so it can be taken apart.

import type { RunId } from './run.ts';

export interface RunParts {
  readonly business: string;
  readonly flow: string;
  readonly itemKey: Uint8Array;
  /** From 1. */
  readonly generation: number;
}

export function runId(parts: RunParts): RunId {
  return `${parts.generation}/${identity(parts.business, parts.flow, parts.itemKey)}` as RunId;
}

/** What all generations of a run share: `business/flow/key`. */
export function identity(business: string, flow: string, itemKey: Uint8Array): string {
  return `${business}/${flow}/${latin1(itemKey)}`;
}

export function identityOf(id: RunId): string {
  return id.slice(id.indexOf('/') + 1);
}

export function runParts(id: RunId): RunParts {
  const first = id.indexOf('/');
  const second = id.indexOf('/', first + 1);
  const third = id.indexOf('/', second + 1);
  return {
    generation: Number(id.slice(0, first)),
    business: id.slice(first + 1, second),
    flow: id.slice(second + 1, third),
    itemKey: latin1Bytes(id.slice(third + 1)),
  };
}

/**
 * What a module deduplicates by: run with generation / step path / round. The item's key is percent-encoded, so that no key can
 * pass for another key and a path.
 */
export function callKey(id: RunId, stepPath: string, round: number): string {
  const keyAt = id.indexOf('/', id.indexOf('/', id.indexOf('/') + 1) + 1) + 1;
  return `${id.slice(0, keyAt)}${encodeURIComponent(id.slice(keyAt))}/${stepPath}/${round}`;
}

/** The shard of a run: FNV-1a over its identity, so that all generations of a run share it. */
export function shardOf(id: RunId, shards: number): number {
  let hash = 0x811c9dc5;
  for (let index = id.indexOf('/') + 1; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  // FNV's low bits are weak on short keys that differ in their last byte only: fold the high half in.
  return ((hash ^ (hash >>> 16)) >>> 0) % shards;
}

/** For people and logs: `business/flow/key`, the key as text when it is printable ASCII without `#`, else as `0x…`. */
export function printableRun(id: RunId): string {
  const { business, flow, itemKey, generation } = runParts(id);
  const suffix = generation === 1 ? '' : `#${generation}`;
  return `${business}/${flow}/${printableKey(itemKey)}${suffix}`;
}

export function printableKey(key: Uint8Array): string {
  const text = latin1(key);
  if (/^[\x21\x22\x24-\x7e]+$/.test(text) && !text.startsWith('0x')) return text;
  return `0x${Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Bytes as a string of the same length, one character each: also the form in which stores keep ids. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

export function latin1Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}
