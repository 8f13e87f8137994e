// What was acknowledged is there in the end, as the accepted writes left it: terminal, or parked for a person to look at.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const nothingLost: MakeChecker = ({ stored }, report) => {
  const acknowledged = new Set<RunId>();
  return {
    see(record, _before, after) {
      if (record.kind !== 'client') return;
      if (record.what === 'refused') report(`${printableRun(record.run)} was refused: ${record.detail}`);
      if (record.what !== 'acknowledged') return;
      acknowledged.add(record.run);
      if (!after) report(`${printableRun(record.run)} was acknowledged before it was stored`);
    },
    end() {
      for (const run of acknowledged) {
        const name = printableRun(run);
        const found = stored.get(run);
        const { state } = found?.control.status ?? { state: State.UNSPECIFIED };
        if (!found) report(`${name} was acknowledged and is not in the store`);
        else if (!isTerminal(state) && state !== State.PARKED)
          report(`${name} was acknowledged and is ${State[state]} in the end`);
      }
    },
  };
};
