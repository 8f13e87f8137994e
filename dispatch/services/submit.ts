// Submit and SubmitStream: items in, one result per item out, in their order.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { defaultLevel, lastLevel } from '../../flow/level.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import { until } from '../../platform/rpc/until.ts';
import { type Item, Refusal, type Runs, type SubmitResultSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { Dispatch } from '../dispatch.ts';
import type { RefusalKind } from '../driver/submission.ts';
import { inOrder } from './in-order.ts';
import { checkItem } from './item.ts';
import { count } from './names.ts';
import { runName } from './run-name.ts';

/** Items of one message: more share no more of an fsync, and hold up the answer of the first. */
export const maxItems = 1_000;

/** Messages of one stream that are being stored: enough that the store never waits for the next, 16 MiB at most. */
const maxMessagesInFlight = 4;

const refusals: Readonly<Record<RefusalKind, Refusal>> = {
  unrouted: Refusal.UNROUTED,
  'unknown flow': Refusal.UNKNOWN_FLOW,
  invalid: Refusal.INVALID,
  conflict: Refusal.CONFLICT,
  generation: Refusal.GENERATION,
  unavailable: Refusal.UNAVAILABLE,
};

type Result = MessageInitShape<typeof SubmitResultSchema>;

export function submitHandlers(dispatch: Dispatch): Pick<Handlers<typeof Runs>, 'submit' | 'submitStream'> {
  // The items of a message are submitted together, so that they share a group commit.
  const submitAll = async (items: readonly Item[]) => {
    if (items.length > maxItems) {
      const found = `items: found ${count(items.length)} items, at most ${count(maxItems)} are allowed in one message`;
      throw new RpcError(Code.INVALID_ARGUMENT, found);
    }
    return { results: await Promise.all(items.map((item) => submitOne(dispatch, item))) };
  };
  return {
    submit: ({ items }) => submitAll(items),
    submitStream: (requests, { stopping }) =>
      inOrder(until(stopping, requests), maxMessagesInFlight, async ({ items }) => {
        await dispatch.whenRoomFor(items.length, lastLevelOf(items));
        return submitAll(items);
      }),
  };
}

async function submitOne(dispatch: Dispatch, sent: Item): Promise<Result> {
  const reading = checkItem(sent);
  if (reading.kind === 'refused') return refused(Refusal.INVALID, reading.field, reading.message);
  const submitted = await dispatch.submit(reading.item);
  if (submitted.kind === 'refused') return refused(refusals[submitted.why], submitted.field, submitted.message);
  return { result: { case: 'accepted', value: { run: runName(submitted.run), created: submitted.created } } };
}

/** The level that waits for all others; what isn't a level is refused item by item later. */
function lastLevelOf(items: readonly Item[]): number {
  return items.reduce((last, { level }) => Math.min(lastLevel, Math.max(last, level || defaultLevel)), 1);
}

function refused(refusal: Refusal, field: string, message: string): Result {
  return { result: { case: 'refused', value: { refusal, field, message } } };
}
