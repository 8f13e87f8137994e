// What the engine does with each way in which a call can end: the engine's column of the table of return codes. Endpoints'
// health is judged elsewhere.

import { ReturnCode } from '../proto/gen/weir/module/v1/module_pb.js';
import { AlarmKind, Ending, Reason } from '../proto/gen/weir/run/v1/run_pb.js';

/** How a call ended that a module answered with a code. Other codes break the contract. */
export const endingsByCode: ReadonlyMap<number, Ending> = new Map([
  [ReturnCode.SUCC, Ending.SUCCEEDED],
  [ReturnCode.FAIL_PARSE_REQ_PKG, Ending.REJECTED],
  [ReturnCode.REQ_PKG_PARAM_INVALID, Ending.REJECTED],
  [ReturnCode.REQ_MUST_PARAM_MISS, Ending.REJECTED],
  [ReturnCode.SVR_INNER_ERR, Ending.FAILED],
  [ReturnCode.FAIL_BACK_SVR, Ending.FAILED],
  [ReturnCode.FAIL_PACK_RSP_PKG, Ending.FAILED],
  [ReturnCode.FAIL_BACK_TIMEOUT, Ending.FAILED],
  [ReturnCode.SVR_OVER_LOAD, Ending.OVERLOADED],
  [ReturnCode.OVER_LIMITS, Ending.OVER_LIMITS],
  [ReturnCode.NO_AUTH, Ending.NO_AUTH],
  [ReturnCode.FATAL_ERROR, Ending.FATAL],
]);

export type Verdict =
  | { readonly kind: 'done' }
  /** The run fails at once. */
  | { readonly kind: 'fail'; readonly reason: Reason }
  /** An attempt is spent; when it was the last one the run fails for `reason`. */
  | { readonly kind: 'retry'; readonly reason: Reason }
  /** Nothing is spent; the step sleeps and is called again. */
  | { readonly kind: 'decline'; readonly alarm: AlarmKind }
  /** Nobody knows whether the call was processed. */
  | { readonly kind: 'lost' };

const verdicts: Readonly<Record<Ending, Verdict>> = {
  // An adapter that says nothing broke the contract as much as a module that does.
  [Ending.UNSPECIFIED]: { kind: 'retry', reason: Reason.VIOLATION },
  [Ending.SUCCEEDED]: { kind: 'done' },
  [Ending.REJECTED]: { kind: 'fail', reason: Reason.REJECTED },
  [Ending.FATAL]: { kind: 'fail', reason: Reason.FATAL },
  [Ending.FAILED]: { kind: 'retry', reason: Reason.EXHAUSTED },
  [Ending.TIMED_OUT]: { kind: 'retry', reason: Reason.EXHAUSTED },
  [Ending.VIOLATION]: { kind: 'retry', reason: Reason.VIOLATION },
  [Ending.OVERLOADED]: { kind: 'decline', alarm: AlarmKind.OVERLOAD },
  [Ending.OVER_LIMITS]: { kind: 'decline', alarm: AlarmKind.OVER_LIMITS },
  [Ending.NO_AUTH]: { kind: 'decline', alarm: AlarmKind.NO_AUTH },
  // Waiting for a module to come back is waiting for better times: the flow's deadline bounds it, not the tries.
  [Ending.UNREACHABLE]: { kind: 'decline', alarm: AlarmKind.UNREACHABLE },
  [Ending.LOST]: { kind: 'lost' },
};

export function verdictOf(ending: Ending): Verdict {
  return verdicts[ending];
}

/** An answer that declined: the module was called and did nothing. */
export function isDeclined(ending: Ending): boolean {
  return ending === Ending.OVERLOADED || ending === Ending.OVER_LIMITS || ending === Ending.NO_AUTH;
}
