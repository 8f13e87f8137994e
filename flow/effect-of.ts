// The effect of a RUNNING step, derived from state alone: the same before and after a re-claim.

import { actionOf } from './action-of.ts';
import type { Draft } from './draft.ts';
import type { Effect } from './effect.ts';
import { callEffect } from './steps/call.ts';
import { startEffect } from './steps/child.ts';
import { isTelling, tellEffect } from './tell.ts';

export function effectOf(draft: Draft, path: string): Effect {
  if (isTelling(path)) return tellEffect(draft, path);
  const action = actionOf(draft, path);
  if (action?.kind === 'sub_flow' || action?.kind === 'start_flow') return startEffect(draft, path, action);
  return callEffect(draft, path);
}
