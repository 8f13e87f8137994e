// Steps whose time has come: a pause is over, a wait has ended, an answer has not come.

import { StepStatus } from '../proto/gen/weir/run/v1/run_pb.js';
import { actionOf } from './action-of.ts';
import type { Draft } from './draft.ts';
import { missAnswer, startCall } from './steps/call.ts';
import { lookAtChild } from './steps/child.ts';
import { endWait } from './steps/wait.ts';

export function wakeSleepers(draft: Draft): void {
  for (const [path, { status, dueMs }] of [...draft.reached()]) {
    const isWaiting = status === StepStatus.WAITING && dueMs > 0;
    if ((isWaiting || status === StepStatus.SLEEPING) && dueMs <= draft.context.nowMs) wake(draft, path, status);
  }
}

function wake(draft: Draft, path: string, status: StepStatus): void {
  const action = actionOf(draft, path);
  switch (action?.kind) {
    case 'call':
      return startCall(draft, path, action);
    case 'callback':
      return status === StepStatus.SLEEPING ? startCall(draft, path, action.call) : missAnswer(draft, path, action);
    case 'wait':
      return endWait(draft, path, action);
    case 'sub_flow':
    case 'start_flow':
      return lookAtChild(draft, path);
    default:
      throw new Error(`invariant: ${path} has nothing to wake for`);
  }
}
