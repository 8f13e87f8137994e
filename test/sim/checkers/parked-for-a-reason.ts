// A run is parked when more calls of one step were lost than its flow allows, or when it was claimed too often without a commit: then,
// and not otherwise.

import { printableRun } from '../../../flow/run-id.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { callOf, type MakeChecker, maxBarrenClaims } from './checker.ts';

export const parkedForAReason: MakeChecker = ({ planOfRun }, report) => ({
  see(record, before, after) {
    if (record.kind !== 'write' || record.result !== 'done' || !after) return;
    const { control, steps, barrenClaims } = after;
    if (control.status.state === State.OPEN && barrenClaims > maxBarrenClaims)
      report(`${printableRun(record.run)} goes on after ${barrenClaims} claims without a commit`);
    if (control.status.state !== State.PARKED || before?.control.status.state === State.PARKED) return;
    const plan = planOfRun(after);
    const isPoison = [...steps].some(([id, { losses }]) => losses > (callOf(plan, id)?.maxLosses ?? Infinity));
    if (isPoison || barrenClaims > maxBarrenClaims) return;
    report(`${printableRun(record.run)} was parked after ${barrenClaims} claims and no more losses than are allowed`);
  },
});
