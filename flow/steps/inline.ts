// INLINE: computes fields inside the engine. Its expressions see the fields as they were before the step, all alike.

import { Reason, StepStatus } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Draft } from '../draft.ts';
import { encodeTyped } from '../field-type.ts';
import type { InlineAction, PlanStep } from '../plan.ts';
import { fieldKey } from '../run.ts';
import { evaluate } from './condition.ts';

export function runInline(draft: Draft, step: PlanStep, action: InlineAction): void {
  const computed: Array<readonly [string, Uint8Array]> = [];
  for (const { field, value } of action.set) {
    const result = evaluate(draft, value);
    if (result.kind === 'error') return draft.fail(step.id, Reason.INPUT, result.message);
    const encoded = encodeTyped(field.type, result.value);
    if (encoded.kind === 'error') return draft.fail(step.id, Reason.INPUT, `${value.path}: ${encoded.message}`);
    computed.push([field.name, encoded.bytes]);
  }
  for (const [name, bytes] of computed) draft.setField(fieldKey(step.id, name), { bytes });
  draft.settle(step.id, StepStatus.DONE);
}
