// Replies of a script as events of a run.

import type { CallEffect } from '../effect.ts';
import type { AnsweredEvent } from '../event.ts';
import type { Answered } from './reply.ts';
import type { InboxKind } from './virtual-run.ts';

/** The end of the call `effect`, which went out at `startedMs`. The module's only endpoint has no name. */
export function answerEvent(effect: CallEffect, reply: Answered, startedMs: number): AnsweredEvent {
  const { ending, code, message, fields, afterMs } = reply;
  const said = { ending, message, ...(code === undefined ? {} : { code }) };
  return {
    kind: 'answered',
    step: effect.step,
    round: effect.round,
    attempt: effect.attempt,
    answer: { ...said, fields },
    tries: [{ endpoint: '', ...said, startedMs, durationUs: (afterMs ?? 0) * 1_000 }],
  };
}

/** The later answer to a callback. */
export function completedEvent(effect: CallEffect, reply: Answered): InboxKind {
  const { ending, code, message } = reply;
  const fields = Object.fromEntries([...reply.fields].map(([name, { bytes }]) => [name, { value: bytes }]));
  return {
    case: 'completed',
    value: { step: effect.step, round: effect.round, ending, message, fields, ...(code === undefined ? {} : { code }) },
  };
}
