// Whether a flow makes sense: all groups of rules over one view of it.

import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { type FlowFault, faultCollector } from './problem.ts';
import { expressions } from './validation/expressions.ts';
import { fields } from './validation/fields.ts';
import { joins } from './validation/joins.ts';
import { limits } from './validation/limits.ts';
import { names } from './validation/names.ts';
import { references } from './validation/references.ts';
import { rings } from './validation/rings.ts';
import { times } from './validation/times.ts';
import { flowView, type RuleGroup } from './validation/view.ts';

const groups: readonly RuleGroup[] = [names, references, rings, joins, fields, expressions, limits, times];

/**
 * Checks a flow that has no text, as the Portal draws one. Returns what is wrong, group by group of rules; nothing when the
 * flow can be published and compiled.
 */
export function validateFlow(flow: Flow): FlowFault[] {
  const view = flowView(flow);
  return groups.flatMap((group) => {
    const { faults, report } = faultCollector();
    group(view, report);
    return faults;
  });
}
