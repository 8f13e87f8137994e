// Once nothing goes wrong any more, everything comes to rest in bounded time.

import { printableRun } from '../../../flow/run-id.ts';
import { isTerminal } from '../../../flow/standing.ts';
import { State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const everythingEnds: MakeChecker = ({ cameToRest }, report) => ({
  see() {},
  end(runs) {
    if (cameToRest) return;
    report('the world did not come to rest in the time given after healing');
    for (const [run, { control, steps, fence }] of runs) {
      const { state } = control.status;
      if (isTerminal(state) || state === State.PARKED) continue;
      const shown = [...steps].map(([id, step]) => `${id}=${StepStatus[step.status]}`).join(' ');
      report(`${printableRun(run)} is stuck in ${State[state]} at (${fence.epoch}, ${fence.version}): ${shown}`);
    }
  },
});
