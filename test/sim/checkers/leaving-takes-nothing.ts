// A process that is leaving performs no more calls, and takes no more runs than those that it was about to take.

import { printableRun } from '../../../flow/run-id.ts';
import type { MakeChecker } from './checker.ts';

/**
 * Until when a claim that was begun before may still reach the store, in ms: a lock, a read, and a write that is sent again as
 * long as nobody answers (about a minute), each of them late at times.
 */
const mostMs = 120_000;

export const leavingTakesNothing: MakeChecker = (_evidence, report) => {
  const leavingSinceMs = new Map<string, number>();
  return {
    see(record) {
      if (record.kind === 'process' && record.what === 'stopping') leavingSinceMs.set(record.process, record.atMs);
      if (record.kind === 'call' && leavingSinceMs.has(record.process)) {
        report(`${record.process} is leaving and calls ${printableRun(record.run)} ${record.step}`);
      }
      if (record.kind !== 'write' || record.operation === 'commit' || record.result !== 'done') return;
      const sinceMs = leavingSinceMs.get(record.process);
      if (sinceMs === undefined || record.atMs - sinceMs < mostMs) return;
      report(
        `${record.process} has been leaving for ${record.atMs - sinceMs} ms and takes ${printableRun(record.run)}`,
      );
    },
  };
};
