// From the name of a run in a request to the run.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RunId } from '../../flow/run.ts';
import { identity, printableRun, runId, runParts } from '../../flow/run-id.ts';
import { Code, RpcError } from '../../platform/rpc/error.ts';
import type { RunName, RunNameSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { Store } from '../../store/port.ts';
import { flowNameProblem, keyProblem } from './names.ts';

/** A run's name as callers write it. */
export function runName(run: RunId): MessageInitShape<typeof RunNameSchema> {
  const { business, flow, itemKey, generation } = runParts(run);
  return { business, flow, key: itemKey, generation };
}

/** The run that is named, its newest generation when none is. Throws INVALID_ARGUMENT for a name, NOT_FOUND for a run. */
export async function findRun(store: Store, name: RunName | undefined): Promise<RunId> {
  if (!name) throw new RpcError(Code.INVALID_ARGUMENT, 'run: is absent; business, flow and key are needed');
  const { business, flow, key, generation } = name;
  refuse('run.business', flowNameProblem(business));
  refuse('run.flow', flowNameProblem(flow));
  refuse('run.key', keyProblem(key));
  if (generation > 0) return runId({ business, flow, itemKey: key, generation });
  const newest = await store.newest(identity(business, flow, key));
  if (newest === undefined) throw noSuchRun(runId({ business, flow, itemKey: key, generation: 1 }));
  return newest;
}

export function noSuchRun(run: RunId): RpcError {
  return new RpcError(Code.NOT_FOUND, `there is no run ${printableRun(run)}`);
}

function refuse(field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `${field}: ${problem}`);
}
