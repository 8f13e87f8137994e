// How a run stands between two events: what its holder has to wait for, and what people see.

import { State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import type { Run } from './run.ts';

export type Standing =
  /** Calls are out. `wakeMs` is when a sleeping step or the deadline wants attention meanwhile. */
  | { readonly kind: 'calling'; readonly wakeMs: number }
  | { readonly kind: 'sleeping'; readonly wakeMs: number }
  | { readonly kind: 'parked' }
  | { readonly kind: 'ended' };

export function standing(run: Run, endingDeadlineMs: number): Standing {
  const { status, deadlineMs } = run.control;
  if (status.state === State.PARKED) return { kind: 'parked' };
  if (status.state !== State.OPEN && status.state !== State.ENDING) return { kind: 'ended' };
  let wakeMs = status.state === State.OPEN ? deadlineMs : status.sinceMs + endingDeadlineMs;
  let calling = false;
  for (const step of run.steps.values()) {
    if (step.status === StepStatus.RUNNING) calling = true;
    else if (step.status === StepStatus.SLEEPING) wakeMs = Math.min(wakeMs, step.dueMs);
  }
  return { kind: calling ? 'calling' : 'sleeping', wakeMs };
}

export function isTerminal(state: State): boolean {
  return state === State.SUCCEEDED || state === State.FAILED || state === State.CANCELLED;
}

/** What a person sees of an OPEN run. */
export function activity(run: Run, held: boolean): 'ready' | 'running' | 'sleeping' | '' {
  if (run.control.status.state !== State.OPEN) return '';
  let sleeping = false;
  for (const step of run.steps.values()) {
    if (step.status === StepStatus.RUNNING) return 'running';
    if (step.status === StepStatus.SLEEPING) sleeping = true;
  }
  if (sleeping) return 'sleeping';
  return held ? 'running' : 'ready';
}
