// A run that has ended or is parked is held by nobody and stands in no index: nobody looks at it again until something happens to it.

import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const noEntriesAtRest: MakeChecker = ({ stored }, report) => ({
  see() {},
  end() {
    for (const [run, { control, entries, isHeld }] of stored) {
      const { state } = control.status;
      if (!isTerminal(state) && state !== State.PARKED) continue;
      const { ready, timerMs, leaseMs } = entries;
      if (isHeld) report(`${printableRun(run)} is ${State[state]} and is held`);
      if (ready || timerMs !== undefined || leaseMs !== undefined)
        report(`${printableRun(run)} is ${State[state]} and has index entries: ${JSON.stringify(entries)}`);
    }
  },
});
