// An attempt is spent by a failure that the holder heard of, and by nothing else: neither by an answer that declined nor by a loss.

import { printableRun } from '../../../flow/run-id.ts';
import { Ending } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

const failures: ReadonlySet<Ending> = new Set([Ending.FAILED, Ending.TIMED_OUT, Ending.VIOLATION]);

export const attemptsAreFailures: MakeChecker = (_evidence, report) => {
  /** By `run step round`. */
  const heard = new Map<string, number>();
  return {
    see(record) {
      if (record.kind === 'answer' && failures.has(record.ending)) {
        const { run, step, round } = record.call;
        const name = `${run} ${step} ${round}`;
        heard.set(name, (heard.get(name) ?? 0) + 1);
      }
      if (record.kind !== 'write' || record.result !== 'done') return;
      for (const [id, { attempts, round }] of record.changes.steps) {
        const most = heard.get(`${record.run} ${id} ${round}`) ?? 0;
        if (attempts <= most) continue;
        report(`${printableRun(record.run)} ${id} round ${round}: ${attempts} attempts were spent on ${most} failures`);
      }
    },
  };
};
