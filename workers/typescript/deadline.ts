// The time of one call.
//
// A deadline belongs to the function that serves the call.
// 1. Its signal fires at the earliest of: the call's own signal (gRPC deadline, cancellation, forced stop) and `timeout_ms`.
// 2. After `release` it has no timer, no listener, and never fires.

import { maxTimeoutMs } from '../../platform/rpc/limits.ts';
import { backendTimedOut } from './failure.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  release(): void;
}

/** `timeoutMs` counts from now; absent or 0 sets no time of its own. */
export function startDeadline(callSignal: AbortSignal, timeoutMs: number | undefined): Deadline {
  const controller = new AbortController();
  const follow = (): void => controller.abort(callSignal.reason);
  callSignal.addEventListener('abort', follow);
  if (callSignal.aborted) follow();
  // A timer of Node overflows beyond maxTimeoutMs, and nobody waits for weeks.
  const timer =
    timeoutMs !== undefined && timeoutMs > 0 && timeoutMs <= maxTimeoutMs
      ? setTimeout(() => controller.abort(backendTimedOut(`not done within ${timeoutMs} ms`)), timeoutMs)
      : undefined;
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      callSignal.removeEventListener('abort', follow);
    },
  };
}
