import { StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';

/** Begun and not settled: something is out, or awaited. */
export function isUnderWay(status: StepStatus | undefined): boolean {
  return status === StepStatus.RUNNING || status === StepStatus.SLEEPING || status === StepStatus.WAITING;
}

/** Nothing more comes of it in this round. */
export function isSettled(status: StepStatus | undefined): boolean {
  return (
    status === StepStatus.DONE ||
    status === StepStatus.FAILED ||
    status === StepStatus.CANCELLED ||
    status === StepStatus.SKIPPED
  );
}

/** Not reached yet in this round. */
export function isArmed(status: StepStatus | undefined): boolean {
  return status === undefined || status === StepStatus.REARMED;
}
