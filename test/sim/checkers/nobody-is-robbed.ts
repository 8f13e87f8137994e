// A run is taken only from a holder that is gone, or doesn't have it any more: from none that lives, works, is known to live, and
// knows that its last write of the run was accepted.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { FaultKind } from '../world/fault-kinds.ts';
import type { MakeChecker } from './checker.ts';

/** How long a holder that stood still, or that others didn't see, may count as gone, in ms: a pause, its session, the grace, twice. */
const awayMs = 180_000;
/** How long a claim takes from the question whether the run is held, in ms, when its write comes through at once. */
const claimMs = 5_000;
/** Faults after which a holder may count as gone that isn't. */
const hiding: ReadonlySet<FaultKind> = new Set(['session expired', 'all members lost', 'late view']);

export const nobodyIsRobbed: MakeChecker = (_evidence, report) => {
  const alive = new Set<string>();
  /** When each process last stood still. */
  const awaySinceMs = new Map<string, number>();
  let hiddenSinceMs = -awayMs;
  /** By run: whose write was the last that was accepted, and since when it has known so, with nothing unclear since. */
  const last = new Map<RunId, { readonly process: string; readonly writeId: string; readonly sureSinceMs: number }>();
  /** Writes that may have been sent long before they arrive. */
  const late = new Set<string>();
  return {
    see(record, before) {
      if (record.kind === 'process') {
        if (record.what === 'started') alive.add(record.process);
        if (record.what === 'crashed' || record.what === 'stopped') alive.delete(record.process);
        if (record.what === 'paused') awaySinceMs.set(record.process, record.atMs);
      }
      if (record.kind === 'fault' && hiding.has(record.fault)) hiddenSinceMs = record.atMs;
      if (record.kind === 'fault' && record.fault === 'late apply') late.add(record.where.split(' ').at(-1) ?? '');
      if (record.kind === 'told') {
        if (record.result === 'unknown') late.add(record.writeId);
        const known = last.get(record.run);
        const isSure = record.result === 'done' && record.writeId === known?.writeId;
        if (known?.process === record.process)
          last.set(record.run, { ...known, sureSinceMs: isSure ? record.atMs : Infinity });
      }
      if (record.kind !== 'write' || record.result !== 'done') return;
      const { run, process, writeId } = record;
      const holder = record.operation === 'claim' ? before?.holder : undefined;
      const known = last.get(run);
      const isSure = known?.process === holder && record.atMs - (known?.sureSinceMs ?? Infinity) > claimMs;
      const sinceMs = Math.max(hiddenSinceMs, awaySinceMs.get(holder ?? '') ?? -awayMs);
      const isAway = record.atMs - sinceMs < awayMs;
      if (holder !== undefined && alive.has(holder) && isSure && !isAway && !late.has(writeId))
        report(`${process} takes ${printableRun(run)} from ${holder}, which lives and holds it`);
      last.set(run, { process, writeId, sureSinceMs: Infinity });
    },
  };
};
