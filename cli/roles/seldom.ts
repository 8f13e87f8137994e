import type { Clock } from '../../platform/clock/clock.ts';

/** What goes on for as long as a service is away is worth a line this often, in ms. */
const everyMs = 5_000;

/** Passes the first on at once, and then at most one every 5 s, with the number of those that were left out before it. */
export function seldom<Values extends unknown[]>(
  clock: Pick<Clock, 'monotonicMs'>,
  tell: (leftOut: number, ...values: Values) => void,
): (...values: Values) => void {
  let toldMs = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (...values) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - toldMs < everyMs) {
      leftOut++;
      return;
    }
    toldMs = nowMs;
    tell(leftOut, ...values);
    leftOut = 0;
  };
}
