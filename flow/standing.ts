// How a run stands between two events: what its holder has to wait for, where the index finds it, and what people see.

import { State, StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import type { IndexEntries, Run, StepState } from './run.ts';
import { isTelling } from './tell.ts';

export type Standing =
  | {
      /** `calling`: calls are out. `sleeping`: none is. */
      readonly kind: 'calling' | 'sleeping';
      /** When the earliest sleeping step, or the end of the time, wants attention. In ms since 1970; infinite when neither does. */
      readonly wakeMs: number;
      /** When the time is over: the run's deadline, or that of its ending. In ms since 1970. */
      readonly endMs: number;
    }
  | { readonly kind: 'parked' }
  | { readonly kind: 'ended' };

export function standing(run: Run, endingDeadlineMs: number): Standing {
  const { status, deadlineMs } = run.control;
  if (status.state === State.PARKED) return { kind: 'parked' };
  if (status.state !== State.OPEN && status.state !== State.ENDING) return { kind: 'ended' };
  const endMs = status.state === State.OPEN ? deadlineMs : status.sinceMs + endingDeadlineMs;
  let wakeMs = Infinity;
  let calling = false;
  let telling = false;
  for (const [path, step] of run.steps) {
    if (step.status === StepStatus.RUNNING) calling = true;
    else if (isWoken(step)) wakeMs = Math.min(wakeMs, step.dueMs);
    telling ||= isTelling(path);
  }
  // What an ending has to tell isn't given up for the time: the end of it changes nothing before that is told.
  if (status.state === State.OPEN || !telling) wakeMs = Math.min(wakeMs, endMs);
  return { kind: calling ? 'calling' : 'sleeping', wakeMs, endMs };
}

/** A step that wants attention at a time. */
function isWoken({ status, dueMs }: StepState): boolean {
  return status === StepStatus.SLEEPING || (status === StepStatus.WAITING && dueMs > 0);
}

/** Where the index finds a run that stands so and that nobody holds. */
export function entriesOf(stands: Standing, nowMs: number): IndexEntries {
  if (stands.kind === 'parked' || stands.kind === 'ended') return { ready: false };
  const { kind, wakeMs, endMs } = stands;
  return kind === 'sleeping' && wakeMs > nowMs ? { ready: false, timerMs: wakeMs } : { ready: true, timerMs: endMs };
}

export function isTerminal(state: State): boolean {
  return state === State.SUCCEEDED || state === State.FAILED || state === State.CANCELLED;
}

/** What a person sees of an OPEN run; empty for others. */
export function activity(run: Run, held: boolean): 'ready' | 'running' | 'sleeping' | 'waiting' | '' {
  if (run.control.status.state !== State.OPEN) return '';
  let sleeping = false;
  let waiting = false;
  for (const step of run.steps.values()) {
    if (step.status === StepStatus.RUNNING) return 'running';
    if (step.status === StepStatus.SLEEPING) sleeping = true;
    if (step.status === StepStatus.WAITING) waiting = true;
  }
  if (sleeping) return 'sleeping';
  if (waiting) return 'waiting';
  return held ? 'running' : 'ready';
}
