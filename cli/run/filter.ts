import type { MessageInitShape } from '@bufbuild/protobuf';
import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { RunFilterSchema } from '../../proto/gen/weir/runs/v1/runs_pb.js';

/** Which runs a command is about. */
export interface FilterOptions {
  readonly business?: string;
  readonly flow?: string;
  /** Names of states. */
  readonly state?: readonly string[];
}

export function filterOf({ business, flow, state = [] }: FilterOptions): MessageInitShape<typeof RunFilterSchema> {
  return {
    ...(business !== undefined && { business }),
    ...(flow !== undefined && { flow }),
    states: state.map((name) => State[name as keyof typeof State]),
  };
}
