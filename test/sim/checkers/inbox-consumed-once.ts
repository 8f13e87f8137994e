// An event that was acknowledged is stored, and consumed by one accepted write: never twice, and in the end all of them. (A
// parked run keeps what doesn't let it go on.)

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const inboxConsumedOnce: MakeChecker = (_evidence, report) => {
  const stored = new Map<string, RunId>();
  const consumed = new Set<string>();
  return {
    see(record) {
      if (record.kind === 'post' && record.result === 'done') stored.set(record.event.id, record.run);
      if (record.kind === 'client' && record.what === 'event acknowledged' && !stored.has(record.detail)) {
        report(`${printableRun(record.run)}: event ${record.detail} was acknowledged and never stored`);
      }
      if (record.kind !== 'write' || record.result !== 'done') return;
      for (const id of record.changes.consumed) {
        if (consumed.has(id)) report(`${printableRun(record.run)}: event ${id} was consumed twice`);
        if (stored.get(id) !== record.run)
          report(`${printableRun(record.run)}: event ${id} was consumed and isn't its own`);
        consumed.add(id);
      }
    },
    end(runs) {
      for (const [id, run] of stored) {
        if (consumed.has(id) || runs.get(run)?.control.status.state === State.PARKED) continue;
        report(`${printableRun(run)}: event ${id} was never consumed`);
      }
    },
  };
};
