// A run that has ended or is parked stands in no index: nobody looks at it again until something happens to it.

import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const noEntriesAtRest: MakeChecker = ({ stored }, report) => ({
  see() {},
  end() {
    for (const [run, { control, entries }] of stored) {
      const { state } = control.status;
      if (!isTerminal(state) && state !== State.PARKED) continue;
      const { ready, timerMs, leaseMs } = entries;
      if (!ready && timerMs === undefined && leaseMs === undefined) continue;
      report(`${printableRun(run)} is ${State[state]} and has index entries: ${JSON.stringify(entries)}`);
    }
  },
});
