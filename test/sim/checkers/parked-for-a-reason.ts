// A run is parked when more calls of one step were lost than its flow allows, or when it was claimed too often without a commit: then,
// and not otherwise.

import { printableRun } from '../../../flow/run-id.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { callOf, type MakeChecker, maxBarrenClaims } from './checker.ts';

export const parkedForAReason: MakeChecker = ({ planOfWrite }, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const { control, steps, barrenClaims } = after;
    // An ending that is given up may make way for what begins again.
    const wasOpen = before?.control.status.state === State.OPEN;
    if (wasOpen && control.status.state === State.OPEN && barrenClaims > maxBarrenClaims)
      report(`${printableRun(record.run)} goes on after ${barrenClaims} claims without a commit`);
    if (control.status.state !== State.PARKED || before?.control.status.state === State.PARKED) return;
    const plan = planOfWrite(before, after);
    const isPoison = [...steps].some(([id, { losses }]) => losses > (callOf(plan, id)?.maxLosses ?? Infinity));
    if (isPoison || barrenClaims > maxBarrenClaims) return;
    report(`${printableRun(record.run)} was parked after ${barrenClaims} claims and no more losses than are allowed`);
  },
});
