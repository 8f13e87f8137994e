// Starting the run that a step wants, or finding it: what a start effect does, once. It may be repeated at any time: the child's
// name and the id of what is posted to it come from the parent's state.

import { create } from '@bufbuild/protobuf';
import type { ChildName, StartEffect } from '../../flow/effect.ts';
import type { ChildSeen } from '../../flow/event.ts';
import type { Plan } from '../../flow/plan.ts';
import type { Control, FieldValue, Run, RunId } from '../../flow/run.ts';
import { printableRun, runId, runParts } from '../../flow/run-id.ts';
import { isTerminal } from '../../flow/standing.ts';
import { InboxEventSchema, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { StoredRun } from '../../store/port.ts';
import { creationHash } from './creation-hash.ts';
import type { Holding } from './holding.ts';
import type { Plans } from './ports.ts';
import type { RunCreation } from './run-creation.ts';

/** `unknown`: the store gave no answer; to be asked again. */
export async function startRun(
  holding: Holding,
  creation: RunCreation,
  effect: StartEffect,
): Promise<ChildSeen | 'unknown'> {
  const { name, parent, rowKey } = effect;
  const { plans, store } = holding.ports;
  const plan = await childPlan(plans, name, { business: runParts(parent.run).business, key: rowKey });
  if (!plan) return { kind: 'refused', message: unknownFlow(name) };
  const created = await creation.create(plan, {
    itemKey: name.itemKey,
    generation: 1,
    level: effect.level,
    creationHash: creationHash(new Map(effect.fields)),
    fields: new Map(effect.fields),
    parent,
    rowKey,
    ...(effect.deadlineMs !== undefined && { latestMs: effect.deadlineMs }),
  });
  if (created.kind === 'done') return { kind: 'open', child: created.run };
  const stored = created.kind === 'exists' ? await store.load(created.run) : undefined;
  if (!stored) return 'unknown';
  const { parent: found } = stored.run.control;
  if (found?.run !== parent.run || found.step !== parent.step) {
    return { kind: 'refused', message: `${printableRun(created.run)} is there already, and this step didn't start it` };
  }
  return effect.retryId === undefined ? seen(plans, effect, stored) : goOn(holding, effect, effect.retryId, stored);
}

/** The plan that a child follows, or would: undefined when there is none. `item` is the one that the chain of runs began with. */
export function childPlan(
  plans: Plans,
  { flow, version }: ChildName,
  item: { readonly business: string; readonly key: Uint8Array },
): Promise<Plan | undefined> {
  return version > 0 ? plans.pinned(flow, version) : plans.released(flow, item);
}

export function childId(plan: Plan, { itemKey }: ChildName): RunId {
  return runId({ business: plan.business, flow: plan.name, itemKey, generation: 1 });
}

function unknownFlow({ flow, version }: ChildName): string {
  return version > 0 ? `there is no version ${version} of flow ${flow}` : `no released flow is named ${flow}`;
}

async function seen(plans: Plans, effect: StartEffect, { run }: StoredRun): Promise<ChildSeen> {
  const { status, flow, flowVersion } = run.control;
  if (!isTerminal(status.state)) return { kind: 'open', child: run.id };
  const plan = await plans.pinned(flow, flowVersion);
  if (!plan) throw new Error(`flow ${flow} has no version ${flowVersion}, which ${printableRun(run.id)} is pinned to`);
  const { state: outcome, outcomeNumber, reason, detail } = status;
  const fields = fieldsAtEnd(plan, run, effect.parent.receive);
  return { kind: 'ended', child: run.id, end: { outcome, outcomeNumber, reason, detail, fields } };
}

/** The fields that the parent wants, as the last writers left them. */
function fieldsAtEnd(plan: Plan, run: Run, names: readonly string[]): ReadonlyMap<string, FieldValue> {
  const fields = new Map<string, FieldValue>();
  for (const name of names) {
    const { keys, declared } = plan.atEnd(name);
    const written = keys.find((key) => run.fields.has(key));
    const value = written === undefined ? declared?.default : run.fields.get(written);
    if (value) fields.set(name, value);
  }
  return fields;
}

/**
 * The parent's step is retried, so the child shall go on, unless it has succeeded. What it is asked is to come back from one
 * outcome; the parent waits for a later one.
 */
async function goOn(
  holding: Holding,
  effect: StartEffect,
  retryId: string,
  stored: StoredRun,
): Promise<ChildSeen | 'unknown'> {
  const { store, plans, clock } = holding.ports;
  const child = stored.run.id;
  const outcomeNumber = outcomeToLeave(stored);
  if (outcomeNumber === undefined) return stands(plans, effect, stored);
  const kind = { case: 'retry', value: { outcomeNumber } } as const;
  const event = create(InboxEventSchema, { id: retryId, arrivedMs: BigInt(clock.nowMs()), kind });
  const posted = await holding.post(child, event);
  if (posted.kind === 'done') return { kind: 'retried', child, outcomeNumber };
  if (posted.kind !== 'duplicate') return 'unknown';
  // It was asked before, perhaps about an earlier outcome.
  const asked = (await store.inbox(child))?.events.find(({ id }) => id === retryId)?.kind;
  if (asked?.case === 'retry') return { kind: 'retried', child, outcomeNumber: asked.value.outcomeNumber };
  const later = await store.load(child);
  return later ? stands(plans, effect, later) : 'unknown';
}

/** Undefined: there is nothing to ask for. */
function outcomeToLeave({ run: { control }, inbox }: StoredRun): number | undefined {
  const { state, outcomeNumber } = control.status;
  if (state === State.SUCCEEDED) return undefined;
  if (state === State.ENDING || isTerminal(state)) return outcomeNumber;
  // It is going on. What stopped it when the parent ended may not have reached it yet.
  return inbox.some(({ kind }) => kind.case === 'cancel') ? outcomeNumber + 1 : undefined;
}

/** How a child stands that isn't to be asked, or has followed already: what it ends with from now on counts. */
function stands(plans: Plans, effect: StartEffect, stored: StoredRun): Promise<ChildSeen> | ChildSeen {
  const { id: child, control } = stored.run;
  if (isTerminal(control.status.state)) return seen(plans, effect, stored);
  return { kind: 'retried', child, outcomeNumber: lastOutcome(control) };
}

/** The number of the last outcome that is over. */
function lastOutcome({ status: { state, outcomeNumber } }: Control): number {
  return state === State.ENDING ? outcomeNumber - 1 : outcomeNumber;
}
