// A step that asks a module for work, and waits for the answer that comes later by token.

import { create } from '@bufbuild/protobuf';
import { type Callback, CallbackSchema } from '../../../proto/gen/weir/flow/v1/flow_pb.js';
import { flowDefaults } from '../limits.ts';
import type { Report } from '../problem.ts';
import { type Members, readDuration } from '../reader.ts';
import { callOptionKeys, readCall, readModule } from './call.ts';

export const callbackKeys = ['callback', ...callOptionKeys, 'answer_within'] as const;

export function readCallback(
  report: Report,
  members: Members<(typeof callbackKeys)[number]>,
  longestMs: bigint,
): Callback {
  const defaultMs = Math.min(flowDefaults.answerWithinMs, Number(longestMs));
  return create(CallbackSchema, {
    call: readCall(report, readModule(report, members.callback), members, longestMs),
    answerWithinMs: readDuration(report, members.answer_within, defaultMs),
  });
}
