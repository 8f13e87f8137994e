// What all acting on runs shares: the state that is found is checked first, so that a caller hears at once when an action can have no
// effect; then an event is put into the run's inbox. An answer says that the event is durable, not that it had its effect: the
// run's holder commits that a moment later, and a run that ends meanwhile consumes the event as late.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Plan } from '../../flow/plan.ts';
import type { Control, RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import { type InboxEvent, InboxEventSchema, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { RunName } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { Store } from '../../store/port.ts';
import type { Dispatch } from '../dispatch.ts';
import type { Plans } from '../driver/ports.ts';
import { findRun, noSuchRun } from './run-name.ts';

/** What acting on runs needs of the world. */
export interface ActingPorts {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly plans: Plans;
  readonly clock: Clock;
  readonly ids: Ids;
}

export type ActionKind = Extract<
  NonNullable<InboxEvent['kind']['case']>,
  'cancel' | 'retry' | 'rewind' | 'release' | 'signal' | 'completed'
>;

const open = [State.OPEN, State.PARKED];
const ended = [State.FAILED, State.CANCELLED];

/** States in which an action has an effect, and what it is called. */
const actions: Readonly<Record<ActionKind, { readonly name: string; readonly actsOn: readonly State[] }>> = {
  cancel: { name: 'cancel', actsOn: open },
  retry: { name: 'retry', actsOn: ended },
  rewind: { name: 'rewind', actsOn: ended },
  release: { name: 'release', actsOn: [State.PARKED] },
  signal: { name: 'a signal', actsOn: open },
  completed: { name: 'a later answer', actsOn: open },
};

const maxRequestIdCharacters = 128;

export interface Actable {
  readonly run: RunId;
  readonly control: Control;
}

/** Throws INVALID_ARGUMENT, NOT_FOUND or FAILED_PRECONDITION. */
export async function findActable(store: Store, name: RunName | undefined, kind: ActionKind): Promise<Actable> {
  return checkActable(store, await findRun(store, name), kind);
}

/** As `findActable`, for a run of which the name is known. */
export async function checkActable(store: Store, run: RunId, kind: ActionKind): Promise<Actable> {
  const head = await store.peek(run);
  if (!head) throw noSuchRun(run);
  const { state } = head.control.status;
  const { name, actsOn } = actions[kind];
  if (actsOn.includes(state)) return { run, control: head.control };
  const states = actsOn.map((each) => State[each]).join(' or ');
  throw new RpcError(Code.FAILED_PRECONDITION, `${printableRun(run)} is ${State[state]}, ${name} is for ${states}`);
}

/** The version that a run is pinned to: versions are never removed. */
export async function pinnedPlan(plans: Plans, { flow, flowVersion }: Control, run: RunId): Promise<Plan> {
  const plan = await plans.pinned(flow, flowVersion);
  if (!plan) throw new Error(`flow ${flow} has no version ${flowVersion}, which ${printableRun(run)} is pinned to`);
  return plan;
}

type Action = Extract<MessageInitShape<typeof InboxEventSchema>['kind'], { case: ActionKind }>;

/** Puts an event into a run's inbox; a request that is repeated with its id does nothing. Throws UNAVAILABLE. */
export async function postAction(ports: ActingPorts, run: RunId, requestId: string, kind: Action): Promise<object> {
  if (requestId.length > maxRequestIdCharacters || !/^[\x21-\x7e]*$/.test(requestId)) {
    const message = `request_id: allowed are up to ${maxRequestIdCharacters} printable ASCII characters without spaces`;
    throw new RpcError(Code.INVALID_ARGUMENT, message);
  }
  const id = `client/${requestId || ports.ids.next()}/${kind.case}`;
  const event = create(InboxEventSchema, { id, arrivedMs: BigInt(ports.clock.nowMs()), kind });
  const posted = await ports.dispatch.post(run, event);
  switch (posted.kind) {
    case 'done':
    case 'duplicate':
      return {};
    case 'absent':
      throw noSuchRun(run);
    case 'unknown':
      throw new RpcError(
        Code.UNAVAILABLE,
        `the store did not answer (${posted.cause}); send the same request again, with a request_id`,
      );
  }
}
