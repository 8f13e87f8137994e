// A run is parked only when more calls of one step were lost than its flow allows, or when it was claimed too often without a
// commit.

import type { RunId } from '../../../flow/run.ts';
import { printableRun } from '../../../flow/run-id.ts';
import { State } from '../../../proto/gen/weir/run/v1/run_pb.js';
import { callOf, type MakeChecker } from './checker.ts';

/** Of the protocol, §4. */
const maxBarrenClaims = 16;

export const parkedForAReason: MakeChecker = ({ plans }, report) => {
  /** Claims since the last accepted commit. A run that is created claimed has one. */
  const claims = new Map<RunId, number>();
  return {
    see(record, before, after) {
      if (record.kind !== 'write' || record.result !== 'done' || !after) return;
      const { run, operation } = record;
      const barren =
        operation === 'commit' ? 0 : operation === 'claim' ? (claims.get(run) ?? 0) + 1 : after.fence.epoch;
      claims.set(run, barren);
      const { status, flow } = after.control;
      if (status.state !== State.PARKED || before?.control.status.state === State.PARKED) return;
      const plan = plans.get(flow);
      const isPoison = [...after.steps].some(([id, { losses }]) => losses > (callOf(plan, id)?.maxLosses ?? Infinity));
      if (isPoison || barren > maxBarrenClaims) return;
      report(`${printableRun(run)} was parked after ${barren} claims and no more losses than are allowed`);
    },
  };
};
