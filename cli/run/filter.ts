import type { MessageInitShape } from '@bufbuild/protobuf';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { RunFilterSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import type { RunArgument } from '../run-argument.ts';

/** Which runs a command is about. */
export interface FilterOptions {
  readonly business?: string;
  readonly flow?: string;
  /** Names of states. */
  readonly state?: readonly string[];
  /** Whose steps started them. */
  readonly parent?: RunArgument;
}

export function filterOf({
  business,
  flow,
  state = [],
  parent,
}: FilterOptions): MessageInitShape<typeof RunFilterSchema> {
  return {
    ...(business !== undefined && { business }),
    ...(flow !== undefined && { flow }),
    ...(parent && { parent }),
    states: state.map((name) => State[name as keyof typeof State]),
  };
}
