// The heart of the engine: what follows when something happens to a run. Pure: time and chance come in with the context,
// what is to be done goes out as data, and the same arguments give the same decision everywhere.

import { advance } from './advance.ts';
import { apply } from './apply.ts';
import { type Changes, mergeChanges, noChanges } from './change.ts';
import { Draft } from './draft.ts';
import type { Effect } from './effect.ts';
import { effectOf } from './effect-of.ts';
import type { Context, RunEvent } from './event.ts';
import { answered } from './events/answered.ts';
import { claimed } from './events/claimed.ts';
import { inboxArrived } from './events/inbox.ts';
import { ticked } from './events/ticked.ts';
import { withdrawn } from './events/withdrawn.ts';
import type { Plan } from './plan.ts';
import type { Run } from './run.ts';
import { childSeen } from './steps/child.ts';
import { told } from './tell.ts';

export interface Decision {
  readonly changes: Changes;
  /** To be performed once `changes` are stored. */
  readonly effects: readonly Effect[];
}

export function decide(plan: Plan, run: Run, event: RunEvent, context: Context): Decision {
  const draft = new Draft(plan, run, context);
  happen(draft, event);
  advance(draft);
  return { changes: draft.changes, effects: draft.effects(effectOf) };
}

/** Several events in their order, as one decision: one write then carries all of it. `run` is used up. */
export function decideAll(
  plan: Plan,
  run: Run,
  events: readonly RunEvent[],
  context: Context,
): Decision & { readonly run: Run } {
  const [only] = events;
  // Almost always there is one, and its decision is the whole.
  if (only && events.length === 1) {
    const { changes, effects } = decide(plan, run, only, context);
    return { run: apply(run, changes), changes, effects };
  }
  const changes = noChanges();
  const effects: Effect[] = [];
  let after = run;
  for (const event of events) {
    const decision = decide(plan, after, event, context);
    after = apply(after, decision.changes);
    mergeChanges(changes, decision.changes);
    effects.push(...decision.effects);
  }
  return { run: after, changes, effects };
}

function happen(draft: Draft, event: RunEvent): void {
  switch (event.kind) {
    case 'claimed':
      return claimed(draft, event);
    case 'answered':
      return answered(draft, event);
    case 'inbox':
      return inboxArrived(draft, event.event);
    case 'withdrawn':
      return withdrawn(draft, event);
    case 'tick':
      return ticked(draft);
    case 'child seen':
      return childSeen(draft, event.step, event.round, event.seen);
    case 'told':
      return told(draft, event.step);
  }
}
