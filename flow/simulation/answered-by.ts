// Who answers a step: what a script can say about it. A new kind of step is an entry of the table.

import type { Action, Plan } from '../plan.ts';

/** Of a step that somebody outside answers. */
export type AnsweredBy = 'module' | 'callback' | 'child';

export type Answerer =
  | { readonly kind: AnsweredBy }
  /** Nobody is called; `what` the step is, for messages. */
  | { readonly kind: 'nobody'; readonly what: string }
  | { readonly kind: 'unknown' };

const answerers: { readonly [Kind in Action['kind']]: (action: Extract<Action, { kind: Kind }>) => Answerer } = {
  call: () => ({ kind: 'module' }),
  switch: () => ({ kind: 'nobody', what: 'a switch' }),
  inline: () => ({ kind: 'nobody', what: 'computed inside the engine' }),
  join: () => ({ kind: 'nobody', what: 'a join' }),
  wait: () => ({ kind: 'nobody', what: 'a wait, which a signal of events may end' }),
  callback: () => ({ kind: 'callback' }),
  sub_flow: () => ({ kind: 'child' }),
  start_flow: () => ({ kind: 'nobody', what: 'the start of a flow, which nobody waits for' }),
  for_each: ({ branch }) => ({ kind: branch.kind === 'call' ? 'module' : 'child' }),
};

/** `id` names a step, an exit call (`exit/<index>`) or a branch (`<step>[<index>]`). */
export function answeredBy(plan: Plan, id: string): Answerer {
  if (plan.exitCalls.some((exit) => exit.id === id)) return { kind: 'module' };
  const action = plan.byId.get(stepOf(id))?.action;
  if (!action) return { kind: 'unknown' };
  return (answerers[action.kind] as (action: Action) => Answerer)(action);
}

/** The step that a branch belongs to; a step itself. */
export function stepOf(id: string): string {
  return id.replace(/\[[0-9]+\]$/, '');
}
