// Makes a write of the store certain: when the store can't say whether a write was applied, it is read back by its id, and sent
// again only unchanged (protocol §3).

import type { RunId } from '../../flow/run.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { CommitWrite, Fence, RunHead, Store } from '../../store/port.ts';

/** Tries to become certain of one write. With the pauses below about a minute: longer outages are for a new claim to mend. */
const maxTries = 12;
const firstPauseMs = 50;
const maxPauseMs = 10_000;

export type Certain =
  | 'done'
  /** The run went on without us: drop it, touch nothing. */
  | 'fenced'
  /** Nobody knows, and we stopped asking: as if the process had died at the write. */
  | 'abandoned';

export interface DoubtfulWrite {
  readonly run: RunId;
  readonly writeId: string;
  /** Sends the write; the same write each time. */
  readonly send: () => Promise<{ readonly kind: 'done' | 'fenced' | 'unknown' }>;
  /** Whether the write can still be applied to the run as it was read back. */
  readonly isOpen: (head: RunHead | undefined) => boolean;
}

export async function makeCertain(store: Store, clock: Clock, write: DoubtfulWrite): Promise<Certain> {
  const first = await write.send();
  if (first.kind === 'done') return 'done';
  if (first.kind === 'fenced') return 'fenced';
  for (let attempt = 1; attempt < maxTries; attempt++) {
    await pause(clock, Math.min(maxPauseMs, firstPauseMs * 2 ** attempt));
    const head = await readBack(store, write.run);
    if (head === 'no answer') continue;
    if (head?.writeId === write.writeId) return 'done';
    if (!write.isOpen(head)) return 'fenced';
    // A refusal now may be the doing of the first write, applied late: the next read-back tells.
    const again = await write.send();
    if (again.kind === 'done') return 'done';
  }
  return 'abandoned';
}

/**
 * A claim or a commit: it can be applied for as long as the run's fence is the one that it expects. What was read back may be old:
 * a run at an earlier version, or none, says nothing about the write.
 */
export function makeFencedCertain(
  store: Store,
  clock: Clock,
  { run, writeId, expected }: Pick<CommitWrite, 'run' | 'writeId' | 'expected'>,
  send: DoubtfulWrite['send'],
): Promise<Certain> {
  const isOpen = (head: RunHead | undefined) => head === undefined || head.fence.version <= expected.version;
  return makeCertain(store, clock, { run, writeId, send, isOpen });
}

export function sameFence(left: Fence, right: Fence): boolean {
  return left.epoch === right.epoch && left.version === right.version;
}

async function readBack(store: Store, run: RunId): Promise<RunHead | undefined | 'no answer'> {
  try {
    return await store.peek(run);
  } catch {
    // A store that doesn't answer a read leaves the doubt as it was; the loop above bounds how often it is asked.
    return 'no answer';
  }
}

function pause(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(durationMs, resolve));
}
