// How long and how often something is tried again.

import type { Clock } from '../../../platform/clock/clock.ts';
import { delay, pauseMs } from './back-off.ts';
import { HBaseFailure } from './port.ts';

export interface Patience {
  readonly clock: Clock;
  readonly random: () => number;
  /** One call to one server. */
  readonly callTimeoutMs: number;
  /** All tries together. */
  readonly operationTimeoutMs: number;
}

/** What came of one try. */
export type Try<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'again'; readonly cause: string; readonly atOnce?: boolean }
  | { readonly kind: 'refused'; readonly cause: string };

/** The time for all tries of one operation, and the pauses between them. */
export class Attempts {
  readonly #patience: Patience;
  readonly #deadlineMs: number;
  #failures = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
    this.#deadlineMs = patience.clock.monotonicMs() + patience.operationTimeoutMs;
  }

  /** For the next call; 0 when the time is over. */
  callTimeoutMs(): number {
    const leftMs = this.#deadlineMs - this.#patience.clock.monotonicMs();
    return Math.max(0, Math.min(this.#patience.callTimeoutMs, leftMs));
  }

  /** Waits before the next try. False when no time is left for it. */
  async pause(): Promise<boolean> {
    const { clock, random } = this.#patience;
    this.#failures += 1;
    const waitMs = pauseMs(this.#failures, random);
    if (clock.monotonicMs() + waitMs >= this.#deadlineMs) return false;
    await delay(clock, waitMs);
    return this.callTimeoutMs() > 0;
  }

  /** Tries of a part of the work go on by themselves, within the same time. */
  fork(): Attempts {
    const fork = new Attempts({
      ...this.#patience,
      operationTimeoutMs: this.#deadlineMs - this.#patience.clock.monotonicMs(),
    });
    fork.#failures = this.#failures;
    return fork;
  }
}

/** Repeats what is safe to repeat. `what` names it in the HBaseFailure that is thrown when it comes to nothing. */
export async function untilDone<T>(
  patience: Patience,
  what: string,
  attempt: (callTimeoutMs: number) => Promise<Try<T>>,
): Promise<T> {
  const attempts = new Attempts(patience);
  // A server that asks for "at once" for ever gives out with the time, as `callTimeoutMs` becomes 0.
  for (;;) {
    const result = await attempt(attempts.callTimeoutMs());
    if (result.kind === 'done') return result.value;
    if (result.kind === 'refused') throw new HBaseFailure('refused', `${what}: ${result.cause}`);
    if (result.atOnce === true && attempts.callTimeoutMs() > 0) continue;
    if (!(await attempts.pause())) throw new HBaseFailure('unavailable', `${what}: ${result.cause}`);
  }
}
