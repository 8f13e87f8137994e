// Taking a run over: read it, decide what the claim begins, write both in one compare-and-set.

import { type Changes, noChanges } from '../../flow/change.ts';
import type { Effect } from '../../flow/effect.ts';
import type { Context } from '../../flow/event.ts';
import { inInboxOrder } from '../../flow/events/inbox.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Holder, Run, RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import type { Fence, StoredRun } from '../../store/port.ts';
import { makeFencedCertain, sameFence } from './certain-write.ts';
import { decideUntilMoved } from './decide-until-moved.ts';
import type { DispatchPorts } from './ports.ts';

export interface Claimed {
  readonly plan: Plan;
  readonly run: Run;
  readonly fence: Fence;
  readonly effects: readonly Effect[];
}

export interface Claimant {
  readonly holder: Holder;
  /** When others may ask for the run, in ms since 1970. */
  readonly leaseMs: number;
}

/** Undefined when the run went on without us, or can't be decided on here. `expected` is the fence at which it was offered. */
export async function claim(
  ports: DispatchPorts,
  context: Context,
  id: RunId,
  expected: Fence,
  claimant: Claimant,
): Promise<Claimed | undefined> {
  const { store, plans } = ports;
  const stored = await store.load(id);
  if (!stored || !sameFence(stored.fence, expected)) return undefined;
  const { flow, flowVersion } = stored.run.control;
  const plan = await plans.pinned(flow, flowVersion);
  if (!plan) throw new Error(`flow ${flow} has no version ${flowVersion}, which ${printableRun(id)} is pinned to`);
  const { run, changes, effects } = firstDecision(ports, context, plan, stored);
  if (!(await writeClaim(ports, stored, changes, claimant)) || !run) return undefined;
  return { plan, run, effects, fence: { epoch: expected.epoch + 1, version: expected.version + 1 } };
}

/** A decision that fails leaves no run to hold: the claim is then written without it, so that such claims are counted. */
function firstDecision(
  ports: DispatchPorts,
  context: Context,
  plan: Plan,
  stored: StoredRun,
): { run?: Run; changes: Changes; effects: readonly Effect[] } {
  const events = [
    { kind: 'claimed', barrenClaims: stored.barrenClaims + 1 } as const,
    ...inInboxOrder(stored.inbox).map((event) => ({ kind: 'inbox', event }) as const),
  ];
  try {
    return decideUntilMoved(plan, stored.run, events, context);
  } catch (error) {
    ports.onError(error, `first decision on ${printableRun(stored.run.id)}`);
    return { changes: noChanges(), effects: [] };
  }
}

async function writeClaim(
  { store, clock, ids }: DispatchPorts,
  stored: StoredRun,
  changes: Changes,
  { holder, leaseMs }: Claimant,
): Promise<boolean> {
  const entries = { ready: false, leaseMs };
  const write = { run: stored.run.id, writeId: ids.next(), changes, expected: stored.fence, holder, entries };
  return (await makeFencedCertain(store, clock, write, () => store.claim(write))) === 'done';
}
