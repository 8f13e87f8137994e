// The flow that a command works on.

import type { Flow } from '../../proto/gen/weir/flow/v1/flow_pb.js';
import { usageFailure } from '../failure.ts';
import { type FlowFile, printProblem, readFlowFile } from '../flow-file.ts';

/** The flow of a file, with its text. Throws a CommandFailure with every problem when there is none. */
export function readFlowArgument(path: string): FlowFile {
  const reading = readFlowFile('', path);
  if (reading.kind === 'flow') return reading.file;
  throw usageFailure(`not a valid flow\n${reading.problems.map(printProblem).join('\n')}`);
}

/** As `readFlowArgument`, the flow alone. */
export function flowOfFile(path: string): Flow {
  return readFlowArgument(path).flow;
}
