import { mergeChanges } from '../../flow/change.ts';
import { type Decision, decideAll } from '../../flow/decide.ts';
import type { Context, RunEvent } from '../../flow/event.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Run } from '../../flow/run.ts';

/**
 * Decides on events in their order for as long as the run is on the version of `plan`: what comes after a retry that moved it to
 * another version is for its next holder. Inbox events that are left out stay in the inbox; nothing else can be left, since a run
 * that has ended has no call out. `run` is used up.
 */
export function decideUntilMoved(
  plan: Plan,
  run: Run,
  events: readonly RunEvent[],
  context: Context,
): Decision & { readonly run: Run } {
  const moving = events.findIndex((event) => moves(plan, event));
  if (moving === -1) return decideAll(plan, run, events, context);
  const first = decideAll(plan, run, events.slice(0, moving + 1), context);
  const rest = events.slice(moving + 1);
  if (isMoved(plan, first.run) || rest.length === 0) return first;
  const later = decideUntilMoved(plan, first.run, rest, context);
  mergeChanges(first.changes, later.changes);
  return { run: later.run, changes: first.changes, effects: [...first.effects, ...later.effects] };
}

export function isMoved(plan: Plan, run: Run): boolean {
  return run.control.flowVersion !== plan.version;
}

/** Whether an event may move a run to another version. */
function moves(plan: Plan, event: RunEvent): boolean {
  const kind = event.kind === 'inbox' ? event.event.kind : undefined;
  if (kind?.case !== 'retry' && kind?.case !== 'rewind') return false;
  return kind.value.flowVersion !== 0 && kind.value.flowVersion !== plan.version;
}
