// Cancel, Retry and Release: events into a run's inbox. The state that is found is checked first, so that a caller hears at once
// when an action can have no effect. An answer says that the event is durable, not that it had its effect: the run's holder
// commits that a moment later, and a run that ends meanwhile consumes the event as late.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { Control, RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import type { Clock } from '../../platform/clock/clock.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import { type InboxEvent, InboxEventSchema, State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { RunName, Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { Store } from '../../store/port.ts';
import type { Dispatch } from '../dispatch.ts';
import { findRun, noSuchRun } from './run-name.ts';

/** What acting on runs needs of the world. */
export interface ActingPorts {
  readonly dispatch: Dispatch;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

type Kind = Extract<InboxEvent['kind'], { case: 'cancel' | 'retry' | 'release' }>['case'];

/** States in which an action has an effect. */
const actsOn = {
  cancel: [State.OPEN, State.PARKED],
  retry: [State.FAILED, State.CANCELLED],
  release: [State.PARKED],
} as const satisfies Record<Kind, readonly State[]>;

/** Characters of a cause: it stands in the run's status. */
const maxCauseCharacters = 1_024;

const maxRequestIdCharacters = 128;

export function actHandlers(ports: ActingPorts): Pick<Handlers<typeof Runs>, 'cancel' | 'retry' | 'release'> {
  return {
    cancel: async ({ run: name, cause, requestId }) => {
      if (cause.length > maxCauseCharacters) {
        const message = `cause: found ${cause.length} characters, at most ${maxCauseCharacters} are allowed`;
        throw new RpcError(Code.INVALID_ARGUMENT, message);
      }
      const { run } = await findActable(ports.store, name, 'cancel');
      return post(ports, run, requestId, { case: 'cancel', value: { cause } });
    },
    retry: async ({ run: name, outcomeNumber, requestId }) => {
      const { run, control } = await findActable(ports.store, name, 'retry');
      const found = control.status.outcomeNumber;
      if (control.superseded) {
        const message = `${printableRun(run)} was superseded by a newer generation, which can be retried in its place`;
        throw new RpcError(Code.FAILED_PRECONDITION, message);
      }
      if (outcomeNumber !== undefined && outcomeNumber !== found) {
        const message = `outcome_number: ${printableRun(run)} has outcome ${found} now, the request names ${outcomeNumber}`;
        throw new RpcError(Code.ABORTED, message);
      }
      return post(ports, run, requestId, { case: 'retry', value: { outcomeNumber: found } });
    },
    release: async ({ run: name, requestId }) => {
      const { run } = await findActable(ports.store, name, 'release');
      return post(ports, run, requestId, { case: 'release', value: {} });
    },
  };
}

async function findActable(
  store: Store,
  name: RunName | undefined,
  kind: Kind,
): Promise<{ readonly run: RunId; readonly control: Control }> {
  const run = await findRun(store, name);
  const head = await store.peek(run);
  if (!head) throw noSuchRun(run);
  const { state } = head.control.status;
  const allowed: readonly State[] = actsOn[kind];
  if (allowed.includes(state)) return { run, control: head.control };
  const names = allowed.map((each) => State[each]).join(' or ');
  throw new RpcError(Code.FAILED_PRECONDITION, `${printableRun(run)} is ${State[state]}, ${kind} is for ${names}`);
}

type Action = Extract<MessageInitShape<typeof InboxEventSchema>['kind'], { case: Kind }>;

async function post(ports: ActingPorts, run: RunId, requestId: string, kind: Action): Promise<object> {
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
