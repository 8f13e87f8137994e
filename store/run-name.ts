// What roles that don't know flows need to handle the names of runs.

export type { RunId } from '../flow/run.ts';
export { latin1, latin1Bytes, printableRun, runParts, shardOf } from '../flow/run-id.ts';
