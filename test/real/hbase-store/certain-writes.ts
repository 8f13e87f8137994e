// Writes as their callers make them (protocol §3): what nobody knows the end of is read back, and sent again unchanged.

import { setTimeout as delay } from 'node:timers/promises';
import type { RunId } from '../../../flow/run.ts';
import { HBaseFailure } from '../../../store/hbase/client/port.ts';
import type { Fence, Store } from '../../../store/port.ts';

export interface Doubts {
  /** Answers that left it open whether the write was applied. */
  unknown: number;
  /** Of those, the ones that were. */
  applied: number;
}

export interface DoubtfulWrite {
  readonly run: RunId;
  readonly writeId: string;
  /** Undefined: it creates the run. */
  readonly expected: Fence | undefined;
  readonly send: () => Promise<{ readonly kind: string }>;
}

const pauseMs = 100;
const giveUpAfterMs = 120_000;

/** Resolves when the write is certain to be applied. Throws when another one took its place, or after two minutes. */
export async function makeCertain(store: Store, write: DoubtfulWrite, doubts: Doubts): Promise<void> {
  const giveUpMs = performance.now() + giveUpAfterMs;
  let isRepeated = false;
  while (performance.now() < giveUpMs) {
    const { kind } = await write.send();
    if (kind === 'done') return;
    const isOpen = kind === 'unknown';
    // A repetition that is refused may have been overtaken by its own first sending.
    if (!isOpen && !isRepeated) throw new Error(`${write.writeId}: ${kind}`);
    if (isOpen) doubts.unknown++;
    isRepeated = true;
    if (await isApplied(store, write, giveUpMs)) {
      doubts.applied++;
      return;
    }
    await delay(pauseMs);
  }
  throw new Error(`${write.writeId}: nothing is certain after ${giveUpAfterMs} ms`);
}

async function isApplied(store: Store, { run, writeId, expected }: DoubtfulWrite, giveUpMs: number): Promise<boolean> {
  while (performance.now() < giveUpMs) {
    try {
      const head = await store.peek(run);
      if (head?.writeId === writeId) return true;
      if (head && (!expected || head.fence.version > expected.version))
        throw new Error(`${writeId}: ${head.writeId} stands`);
      return false;
    } catch (error) {
      if (!(error instanceof HBaseFailure) || error.kind !== 'unavailable') throw error;
      await delay(pauseMs);
    }
  }
  return false;
}
