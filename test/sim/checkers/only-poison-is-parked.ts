// An item that kills whoever works on it is put aside and harms no other: where nothing else leaves the end of a call unknown, and one
// dispatch keeps suspects apart, only such items are parked; and none of them succeeds once a step of it has reached a module.

import { isExitCall } from '../../../flow/exit-call.ts';
import type { RunId } from '../../../flow/run.ts';
import { identityOf, printableRun } from '../../../flow/run-id.ts';
import { State, StepStatus } from '../../../proto/gen/weir/run/v1/run_pb.js';
import type { MakeChecker } from './checker.ts';

export const onlyPoisonIsParked: MakeChecker = (_evidence, report) => {
  let isOnlyPoisoned = false;
  let poison: ReadonlySet<string> = new Set();
  const received = new Set<RunId>();
  return {
    see(record, before, after) {
      if (record.kind === 'world') {
        isOnlyPoisoned = record.isOnlyPoisoned && record.processes.filter(isDispatch).length === 1;
        poison = new Set(record.poison);
      }
      if (record.kind === 'receipt' && !isExitCall(record.call.step)) received.add(record.call.run);
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { state } = after.control.status;
      // Begun again it may go another way, and a join may do without the step that kills.
      if (state === State.OPEN && before && before.control.status.state !== State.OPEN) received.delete(record.run);
      if ([...after.steps.values()].some(({ status }) => status === StepStatus.CANCELLED)) received.delete(record.run);
      const isPoison = poison.has(identityOf(record.run));
      if (isOnlyPoisoned && state === State.PARKED && !isPoison)
        report(`${printableRun(record.run)} is parked, and is no poison item`);
      if (isPoison && state === State.SUCCEEDED && received.has(record.run))
        report(`${printableRun(record.run)} kills whoever works on it, and SUCCEEDED`);
    },
  };
};

/** Spouts alone are called `s1`, `s2`, … */
function isDispatch(process: string): boolean {
  return !process.startsWith('s');
}
