import { describe, expect, it } from 'vitest';
import { Reason, State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { unreached } from './draft.ts';
import type { Run } from './run.ts';
import { entriesOf, standing } from './standing.ts';

/** A run that has been ending since 0, with a state under each path. */
function ending(steps: Readonly<Record<string, StepStatus>>): Run {
  const status = { state: State.ENDING, reason: Reason.UNSPECIFIED, sinceMs: 0 };
  return {
    control: { status, deadlineMs: 5_000 },
    steps: new Map(Object.entries(steps).map(([path, each]) => [path, { ...unreached(0), status: each }])),
  } as unknown as Run;
}

describe('a run that ends', () => {
  it('is looked at when the time for its exit calls is over', () => {
    expect(standing(ending({ 'exit/0': StepStatus.RUNNING }), 60_000)).toMatchObject({
      kind: 'calling',
      wakeMs: 60_000,
    });
  });

  it('is not woken by that time, again and again, while it has something to tell', () => {
    const stands = standing(ending({ 'tell/parent': StepStatus.RUNNING }), 60_000);
    expect(stands).toEqual({ kind: 'calling', wakeMs: Infinity, endMs: 60_000 });
    expect(entriesOf(stands, 70_000)).toEqual({ ready: true, timerMs: 60_000 });
  });
});
