// Putting an event into another run's inbox: what a tell effect does, once. It may be repeated at any time: the event has its id
// from the teller's state.

import type { ChildName, TellEffect } from '../../flow/effect.ts';
import { defaultLevel } from '../../flow/level.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Control, FieldValue, RunId } from '../../flow/run.ts';
import { runParts } from '../../flow/run-id.ts';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { creationHash } from './creation-hash.ts';
import type { Holding } from './holding.ts';
import type { RunCreation } from './run-creation.ts';
import { childId, childPlan } from './start-run.ts';

/** `unknown`: the store gave no answer; to be asked again. `from` tells. */
export async function tellRun(
  holding: Holding,
  creation: RunCreation,
  from: RunId,
  effect: TellEffect,
): Promise<'told' | 'unknown'> {
  const { to, event, ifAbsent } = effect;
  if (typeof to === 'string') {
    const told = await post(to);
    return told === 'absent' ? 'told' : told;
  }
  const { business, itemKey: key } = runParts(from);
  const plan = await childPlan(holding.ports.plans, to, { business, key });
  // Nobody can have started a run of it.
  if (!plan) return 'told';
  const told = await post(childId(plan, to));
  if (told !== 'absent') return told;
  if (ifAbsent === 'nothing') return 'told';
  const created = await createCancelled(creation, plan, from, effect, to);
  // Somebody has started it meanwhile: the next time finds it.
  return created.kind === 'done' ? 'told' : 'unknown';

  async function post(run: RunId): Promise<'told' | 'unknown' | 'absent'> {
    const posted = await holding.post(run, event);
    if (posted.kind === 'absent') return 'absent';
    return posted.kind === 'unknown' ? 'unknown' : 'told';
  }
}

/** The child as a start that comes late finds it: it has ended and does nothing. */
function createCancelled(creation: RunCreation, plan: Plan, from: RunId, { step, event }: TellEffect, name: ChildName) {
  const fields = new Map<string, FieldValue>();
  const child = {
    itemKey: name.itemKey,
    generation: 1,
    level: defaultLevel,
    fields,
    creationHash: creationHash(fields),
  };
  // `tell/cancel/<path>`
  const path = step.split('/').slice(2).join('/');
  const parent = { run: from, step: path, round: 1, waits: false, receive: [], chain: 1 };
  const detail = event.kind.case === 'cancel' ? event.kind.value.cause : '';
  const cancel = (control: Control): Control => ({
    ...control,
    // Nobody can let it go on: it has none of what its parent would have sent.
    superseded: true,
    status: { ...control.status, state: State.CANCELLED, outcomeNumber: 1, detail },
  });
  return creation.createEnded(plan, { ...child, parent }, cancel);
}
