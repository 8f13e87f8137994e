// Who doesn't hear what became of a write reads it back, soon and before it goes on; a refusal of what was sent again may be the doing
// of the first sending, and is read back too. What is sent again is the same write: nobody sends two commits at one fence.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import type { ToldHappening, WriteHappening } from '../world/history.ts';
import type { MakeChecker } from './checker.ts';

/** A process that lives reads back within a pause of the protocol, 10 s at most; how late it may be, in ms. */
const lateMs = 30_000;
/** Looks, after which a write may be given up. */
const mostLooks = 11;

interface Doubt {
  readonly run: RunId;
  readonly writeId: string;
  readonly sinceMs: number;
  readonly looks: number;
  readonly isAsked: boolean;
}

export const doubtsAreResolved: MakeChecker = (_evidence, report) => {
  /** By process, then by id of the write. */
  const doubts = new Map<string, Map<string, Doubt>>();
  /** The commit that a process sends at a fence, as `process run version`. */
  const commits = new Map<string, string>();
  let nowMs = 0;

  const judge = (process: string, doubt: Doubt) => {
    if (doubt.isAsked || doubt.looks >= mostLooks || nowMs - doubt.sinceMs < lateMs) return;
    report(`${process} didn't hear of [${doubt.writeId}] to ${printableRun(doubt.run)}, and never asked`);
  };
  const told = ({ process, run, writeId, result }: ToldHappening) => {
    const own = doubts.get(process) ?? new Map<string, Doubt>();
    doubts.set(process, own);
    const before = own.get(writeId);
    if (result === 'done' || (result !== 'unknown' && !before)) own.delete(writeId);
    else own.set(writeId, { run, writeId, sinceMs: nowMs, looks: before?.looks ?? 0, isAsked: false });
  };
  const looked = (process: string, run: RunId) => {
    const own = doubts.get(process);
    for (const doubt of own?.values() ?? []) {
      if (doubt.run !== run) continue;
      judge(process, doubt);
      own?.set(doubt.writeId, { ...doubt, isAsked: true, looks: doubt.looks + 1 });
    }
  };
  /** Who stands still for a while is late with everything. */
  const excuse = (process: string) => {
    const own = doubts.get(process);
    for (const doubt of own?.values() ?? []) own?.set(doubt.writeId, { ...doubt, isAsked: true });
  };
  const sent = ({ process, run, expected, writeId, operation }: WriteHappening) => {
    if (operation !== 'commit' || !expected) return;
    const place = `${process} ${run} ${expected.version}`;
    const known = commits.get(place) ?? writeId;
    commits.set(place, known);
    if (known !== writeId)
      report(`${process} sent [${known}] and [${writeId}] at version ${expected.version} of ${printableRun(run)}`);
  };

  return {
    see(record) {
      nowMs = record.atMs;
      if (record.kind === 'told') told(record);
      if (record.kind === 'write') sent(record);
      if (record.kind === 'peek') looked(record.process, record.run);
      if (record.kind !== 'process') return;
      if (record.what === 'crashed' || record.what === 'stopped')
        for (const doubt of doubts.get(record.process)?.values() ?? []) judge(record.process, doubt);
      if (record.what === 'paused') excuse(record.process);
      else if (record.what !== 'stopping') doubts.delete(record.process);
    },
    end() {
      for (const [process, own] of doubts) for (const doubt of own.values()) judge(process, doubt);
    },
  };
};
