// Values that are too large for one node, in several of their own.
//
// Invariants:
//   K1  A set of chunks is written once, whole, before an entry names it, and never changed.
//   K2  A set is removed only when its entry names another one, and only long after it was written: by then no put that wrote it can
//       still come to name it. A reader that finds its chunks gone reads the entry again.

import { type Answer, done } from './answer.ts';
import { maxInlineBytes } from './configuration-node.ts';
import { chunksOf } from './configuration-tree.ts';
import type { ZooKeeperSession } from './session.ts';

/** A set that no entry names is kept this long, in ms: many times the longest put. */
const keepMs = 600_000;
/** Sets that one sweep removes. */
const maxSwept = 20;

/** Writes the value as the set `set` of an entry. Its name is new. */
export async function writeChunks(
  session: ZooKeeperSession,
  path: string,
  set: string,
  value: Uint8Array,
): Promise<Answer<undefined>> {
  const folder = `${chunksOf(path)}/${set}`;
  const made = await session.ensure(folder);
  if (made.kind !== 'done') return made;
  for (let index = 0; index * maxInlineBytes < value.length; index++) {
    const data = value.subarray(index * maxInlineBytes, (index + 1) * maxInlineBytes);
    const wrote = await session.change([{ kind: 'create', path: `${folder}/${index}`, data, mode: 'persistent' }]);
    if (wrote.kind !== 'done') return wrote;
  }
  return done(undefined);
}

/** The value of `bytes` bytes; `absent` when the set is gone. */
export async function readChunks(
  session: ZooKeeperSession,
  path: string,
  set: string,
  bytes: number,
): Promise<Answer<Uint8Array>> {
  const count = Math.ceil(bytes / maxInlineBytes);
  const folder = `${chunksOf(path)}/${set}`;
  const chunks = await Promise.all(Array.from({ length: count }, (_, index) => session.read(`${folder}/${index}`)));
  const parts: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (chunk.kind !== 'done') return chunk;
    parts.push(chunk.value.data);
  }
  return done(new Uint8Array(Buffer.concat(parts)));
}

/** Removes old sets of an entry that now names `named` (K2). What it can't remove now the next sweep will. */
export async function sweepChunks(
  session: ZooKeeperSession,
  path: string,
  named: string | undefined,
  keepForMs = keepMs,
): Promise<void> {
  const folder = chunksOf(path);
  const all = await session.children(folder);
  if (all.kind !== 'done') return;
  const stats = await Promise.all(all.value.names.map((set) => session.children(`${folder}/${set}`)));
  // Time is what the servers' clock says: all were stamped by it, and what is named was written last.
  const newestMs = Math.max(...stats.map((stat) => (stat.kind === 'done' ? stat.value.stat.createdMs : 0)));
  let swept = 0;
  for (const [index, set] of all.value.names.entries()) {
    const content = stats[index];
    if (content?.kind !== 'done' || set === named || newestMs - content.value.stat.createdMs < keepForMs) continue;
    if (++swept > maxSwept) return;
    const parts = content.value.names.map((name) => ({ kind: 'remove' as const, path: `${folder}/${set}/${name}` }));
    await session.change([...parts, { kind: 'remove', path: `${folder}/${set}` }]);
  }
}
