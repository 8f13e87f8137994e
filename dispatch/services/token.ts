// The token of a callback: the call key of the request that was taken on. A module sends it back with the later answer.

import type { RunId } from '../../flow/run.ts';
import { callKey, latin1Bytes, runId, runParts } from '../../flow/run-id.ts';

export interface Token {
  readonly run: RunId;
  readonly step: string;
  readonly round: number;
}

const maxTokenCharacters = 8_192;

/** Undefined when it isn't one that this engine makes. */
export function readToken(token: string): Token | undefined {
  if (token.length > maxTokenCharacters) return undefined;
  const [generation, business, flow, key, step, round, ...rest] = token.split('/');
  if (!business || !flow || !key || !step || rest.length > 0) return undefined;
  const itemKey = keyOf(key);
  if (!itemKey) return undefined;
  const run = runId({ business, flow, itemKey, generation: Number(generation) });
  const parsed = { run, step, round: Number(round) };
  // One way of writing each: what is read is exactly what was sent.
  return callKey(run, step, parsed.round) === token && runParts(run).generation >= 1 && parsed.round >= 1
    ? parsed
    : undefined;
}

function keyOf(encoded: string): Uint8Array | undefined {
  try {
    return latin1Bytes(decodeURIComponent(encoded));
  } catch {
    return undefined;
  }
}
