// Runs, cells and events as the tests of stores need them.

import { create } from '@bufbuild/protobuf';
import { type AlarmRaised, type Changes, type Execution, noChanges } from '../../flow/change.ts';
import type { Control, FieldValue, Holder, RunId, StepState } from '../../flow/run.ts';
import { runId, runParts } from '../../flow/run-id.ts';
import {
  AlarmKind,
  Ending,
  type InboxEvent,
  InboxEventSchema,
  Reason,
  State,
  StepStatus,
} from '../../proto/gen/weir/run/v1/run_pb.js';

export const startMs = Date.UTC(2026, 0, 1);

export const holder: Holder = { processId: 'dispatch-1', incarnation: 'first', claimedMs: startMs };
export const otherHolder: Holder = { processId: 'dispatch-2', incarnation: 'second', claimedMs: startMs + 1 };

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function id(key: string | Uint8Array, generation = 1, business = 'mail', flow = 'intake'): RunId {
  return runId({ business, flow, itemKey: typeof key === 'string' ? bytes(key) : key, generation });
}

export function control(run: RunId, state: State = State.OPEN, more: Partial<Control> = {}): Control {
  const { business, flow, itemKey, generation } = runParts(run);
  return {
    business,
    itemKey,
    flow,
    generation,
    flowVersion: 1,
    level: 5,
    order: startMs,
    creationHash: new Uint8Array(32).fill(7),
    createdMs: startMs,
    deadlineMs: startMs + 60_000,
    inputBytes: 5,
    superseded: false,
    status: {
      state,
      reason: Reason.UNSPECIFIED,
      detail: '',
      outcomeNumber: 0,
      outcome: State.UNSPECIFIED,
      sinceMs: startMs,
      evidence: [],
    },
    ...more,
  };
}

export function step(status: StepStatus = StepStatus.RUNNING, more: Partial<StepState> = {}): StepState {
  return {
    status,
    round: 1,
    attempts: 0,
    losses: 0,
    declines: 0,
    message: '',
    reason: Reason.UNSPECIFIED,
    startedMs: startMs,
    endedMs: 0,
    dueMs: 0,
    chosen: [],
    ...more,
  };
}

export function field(value: string): FieldValue {
  return { bytes: bytes(value) };
}

export function execution(step: string, attempt = 1): Execution {
  return {
    step,
    round: 1,
    attempt,
    module: 'mail.parse',
    endpoint: '127.0.0.1:21001',
    ending: Ending.SUCCEEDED,
    code: 0,
    message: '',
    startedMs: startMs,
    durationUs: 1_500,
    droppedFields: 0,
  };
}

export function alarm(key: string, atMs: number = startMs, message = 'look at it'): AlarmRaised {
  return {
    key,
    kind: AlarmKind.RUN_FAILED,
    business: 'mail',
    flow: 'intake',
    itemKey: bytes('k'),
    step: 'parse',
    module: 'mail.parse',
    message,
    atMs,
  };
}

export function event(eventId: string, arrivedMs: number = startMs): InboxEvent {
  return create(InboxEventSchema, {
    id: eventId,
    arrivedMs: BigInt(arrivedMs),
    kind: { case: 'cancel', value: { cause: 'test' } },
  });
}

interface ChangeParts {
  control?: Control;
  steps?: Record<string, StepState | null>;
  fields?: Record<string, FieldValue | null>;
  executions?: Execution[];
  consumed?: string[];
  alarms?: AlarmRaised[];
}

export function changes(parts: ChangeParts = {}): Changes {
  const made = noChanges();
  if (parts.control) made.control = parts.control;
  for (const [name, state] of Object.entries(parts.steps ?? {})) made.steps.set(name, state);
  for (const [name, value] of Object.entries(parts.fields ?? {})) made.fields.set(name, value);
  made.executions.push(...(parts.executions ?? []));
  made.consumed.push(...(parts.consumed ?? []));
  made.alarms.push(...(parts.alarms ?? []));
  return made;
}
