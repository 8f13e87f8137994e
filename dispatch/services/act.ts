// Cancel, Retry, Rewind and Release: what people do to runs.

import { quoted } from '../../flow/definition/problem.ts';
import { didYouMean } from '../../flow/nearest-name.ts';
import { printableRun, runParts } from '../../flow/run-id.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { Handlers } from '../../platform/rpc/handlers.ts';
import type { RetryRequest, RewindRequest, Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { Plans } from '../driver/ports.ts';
import { type Actable, type ActingPorts, findActable, pinnedPlan, postAction } from './actable.ts';

/** Characters of a cause: it stands in the run's status. */
const maxCauseCharacters = 1_024;

export function actHandlers(
  ports: ActingPorts,
): Pick<Handlers<typeof Runs>, 'cancel' | 'retry' | 'rewind' | 'release'> {
  const { store, plans } = ports;
  return {
    cancel: async ({ run: name, cause, requestId }) => {
      if (cause.length > maxCauseCharacters) {
        const message = `cause: found ${cause.length} characters, at most ${maxCauseCharacters} are allowed`;
        throw new RpcError(Code.INVALID_ARGUMENT, message);
      }
      const { run } = await findActable(store, name, 'cancel');
      return postAction(ports, run, requestId, { case: 'cancel', value: { cause } });
    },
    retry: async ({ run: name, outcomeNumber, requestId, version }) => {
      const found = await findActable(store, name, 'retry');
      const asked = await reopening(plans, found, 'retried', outcomeNumber, version);
      return postAction(ports, found.run, requestId, { case: 'retry', value: asked });
    },
    rewind: async ({ run: name, step, outcomeNumber, requestId, version }) => {
      const found = await findActable(store, name, 'rewind');
      const asked = await reopening(plans, found, 'rewound', outcomeNumber, version);
      const plan = await pinnedPlan(plans, found.control, found.run);
      if (!plan.byId.has(step)) {
        const known = didYouMean(step, plan.byId.keys());
        const message = `step: flow ${plan.name} version ${plan.version} has no step ${quoted(step)}${known}`;
        throw new RpcError(Code.INVALID_ARGUMENT, message);
      }
      return postAction(ports, found.run, requestId, { case: 'rewind', value: { ...asked, step } });
    },
    release: async ({ run: name, requestId }) => {
      const { run } = await findActable(store, name, 'release');
      return postAction(ports, run, requestId, { case: 'release', value: {} });
    },
  };
}

/** What an event says that makes a run go on: the outcome that it comes back from, and the version it goes on with. */
async function reopening(
  plans: Plans,
  { run, control }: Actable,
  verb: string,
  outcomeNumber: number | undefined,
  version: RetryRequest['version'] | RewindRequest['version'],
): Promise<{ outcomeNumber: number; flowVersion: number }> {
  const found = control.status.outcomeNumber;
  if (control.superseded) {
    const message = `${printableRun(run)} was superseded by a newer generation, which can be ${verb} in its place`;
    throw new RpcError(Code.FAILED_PRECONDITION, message);
  }
  if (outcomeNumber !== undefined && outcomeNumber !== found) {
    const message = `outcome_number: ${printableRun(run)} has outcome ${found} now, the request names ${outcomeNumber}`;
    throw new RpcError(Code.ABORTED, message);
  }
  return { outcomeNumber: found, flowVersion: await versionOf(plans, control, version) };
}

/** The version that is asked for, as it is now; 0 keeps the present one. */
async function versionOf(
  plans: Plans,
  { business, flow, itemKey, rowKey, parent }: Actable['control'],
  version: RetryRequest['version'] | RewindRequest['version'],
): Promise<number> {
  switch (version.case) {
    case undefined:
      return 0;
    case 'released': {
      if (!version.value)
        throw new RpcError(Code.INVALID_ARGUMENT, 'released: is false; leave it out to keep the version');
      const item = { business: parent ? runParts(parent.run).business : business, key: rowKey ?? itemKey };
      const plan = await plans.released(flow, item);
      if (plan) return plan.version;
      throw new RpcError(Code.FAILED_PRECONDITION, `released: no version of flow ${flow} is released`);
    }
    case 'flowVersion': {
      const { value } = version;
      if (value === 0)
        throw new RpcError(Code.INVALID_ARGUMENT, 'flow_version: is 0; leave it out to keep the version');
      if (await plans.pinned(flow, value)) return value;
      throw new RpcError(Code.NOT_FOUND, `flow_version: flow ${flow} has no version ${value}`);
    }
  }
}
