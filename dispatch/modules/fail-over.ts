// When a call goes on to another endpoint, and which answer stands when none is left.

import type { Answer } from '../../flow/event.ts';
import { Ending } from '../../proto/gen/weir/run/v1/run_pb.js';

/** One endpoint's answer within a call. */
export interface Tried {
  readonly answer: Answer;
}

/**
 * Whether the last answer asks for another endpoint: it had no room, it was never reached, or it refused our credentials and
 * nobody has confirmed that yet.
 */
export function goesOn(tries: readonly Tried[]): boolean {
  const ending = tries.at(-1)?.answer.ending;
  if (ending === Ending.OVERLOADED || ending === Ending.UNREACHABLE) return true;
  return ending === Ending.NO_AUTH && tries.filter(({ answer }) => answer.ending === Ending.NO_AUTH).length === 1;
}

/**
 * The tries with the one that speaks for the module at the end. When several endpoints declined, overload counts most: the
 * module is alive, and the rest may only be a consequence. A refusal that nobody confirmed is more than silence.
 */
export function decided<T extends Tried>(tries: readonly T[]): readonly T[] {
  if (!goesOn(tries)) return tries;
  const spokesman =
    tries.findLast(({ answer }) => answer.ending === Ending.OVERLOADED) ??
    tries.findLast(({ answer }) => answer.ending === Ending.NO_AUTH) ??
    tries.at(-1);
  return spokesman === tries.at(-1)
    ? tries
    : [...tries.filter((each) => each !== spokesman), ...(spokesman ? [spokesman] : [])];
}
