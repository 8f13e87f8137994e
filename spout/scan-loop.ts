// A pass that is made again and again: after the pause that it asks for, or at once when it is woken.
//
// Invariants:
//   C1  One pass at a time.
//   C2  While started, a pass is under way or a next one is set. A pass that throws (a bug) costs a pause, never the loop.

import type { Clock, Timer } from '../platform/clock/clock.ts';

export interface LoopSettings {
  /** What the pass does, for error messages: "scanning for ready runs". */
  readonly doing: string;
  /** Makes one pass; answers the pause until the next, in ms. */
  readonly pass: () => Promise<number>;
  /** The pause is at least this many times as long as the pass took; 0: no matter how long. */
  readonly restPerWork: number;
  /** Pause after a pass that threw, in ms. */
  readonly afterErrorMs: number;
  readonly onError: (error: unknown, doing: string) => void;
}

export class ScanLoop {
  readonly #clock: Clock;
  readonly #settings: LoopSettings;
  #state: 'stopped' | 'waiting' | 'called' | 'passing' = 'stopped';
  #stopping = false;
  #again = false;
  #timer: Timer | undefined;
  #ended: (() => void) | undefined;

  constructor(clock: Clock, settings: LoopSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  start(): void {
    if (this.#state !== 'stopped') throw new Error('invariant C1: the loop was started before');
    this.#call();
  }

  /** Makes the next pass at once, or right after the one under way. */
  wake(): void {
    if (this.#state === 'passing') this.#again = true;
    else if (this.#state === 'waiting') this.#call();
  }

  /** Resolves when no pass is under way; none begins any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#timer?.cancel();
    if (this.#state === 'passing') await new Promise<void>((resolve) => (this.#ended = resolve));
    this.#state = 'stopped';
  }

  #call(): void {
    this.#timer?.cancel();
    this.#state = 'called';
    this.#clock.soon(() => {
      if (this.#stopping) return;
      this.#state = 'passing';
      this.#again = false;
      const beganMs = this.#clock.monotonicMs();
      this.#settings.pass().then(
        (pauseMs) => {
          const tookMs = this.#clock.monotonicMs() - beganMs;
          this.#passed(Math.max(pauseMs, tookMs * this.#settings.restPerWork));
        },
        (error: unknown) => {
          this.#settings.onError(error, this.#settings.doing);
          this.#passed(this.#settings.afterErrorMs);
        },
      );
    });
  }

  #passed(pauseMs: number): void {
    this.#state = 'waiting';
    if (this.#stopping) this.#ended?.();
    else if (this.#again) this.#call();
    else this.#timer = this.#clock.after(pauseMs, () => this.#call());
  }
}
