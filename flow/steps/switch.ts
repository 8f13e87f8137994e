// SWITCH: chooses the steps that follow, by the first case that holds.

import { NoMatch } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import type { PlanStep, SwitchAction } from '../plan.ts';
import { evaluateBoolean } from './condition.ts';

export function runSwitch(draft: Draft, step: PlanStep, action: SwitchAction): void {
  for (const { when, then } of action.cases) {
    const result = evaluateBoolean(draft, when);
    if (result.kind === 'error') return draft.fail(step.id, Reason.INPUT, result.message);
    if (result.value) return draft.settle(step.id, StepStatus.DONE, { chosen: then });
  }
  switch (action.noMatch) {
    case NoMatch.OTHERWISE:
      return draft.settle(step.id, StepStatus.DONE, { chosen: action.otherwise });
    case NoMatch.PASS:
      return draft.settle(step.id, StepStatus.DONE, { chosen: [] });
    default:
      return draft.fail(step.id, Reason.NO_MATCH, 'no case matched and the flow declares no other way');
  }
}
