// What a run has to do with other runs: start them, tell them something. Each errand is repeated until it is certain, or until
// whoever sent it wants it no more.
//
// Owns nothing but the timers of errands that wait to be tried again.
//
// Invariants:
//   N1  `done` is called once, never before the call that began the errand returns, and not after it was given up.
//   N2  What an errand does may be done again by the next holder of the run: all that it writes has a name derived from the run.

import type { StartEffect, TellEffect } from '../../flow/effect.ts';
import type { ChildSeen } from '../../flow/event.ts';
import type { RunId } from '../../flow/run.ts';
import { printableRun } from '../../flow/run-id.ts';
import type { Timer } from '../../platform/clock/clock.ts';
import type { Errand, Errands } from './errand.ts';
import type { Holding } from './holding.ts';
import type { RunCreation } from './run-creation.ts';
import { startRun } from './start-run.ts';
import { tellRun } from './tell-run.ts';

/** First pause after a try without an answer, in ms; each is twice as long. A store that is restarted is back soon. */
const firstPauseMs = 50;
/** Longest such pause, in ms. The writes of a try are themselves repeated for about a minute. */
const maxPauseMs = 10_000;

export class StoreErrands implements Errands {
  readonly #holding: Holding;
  readonly #creation: RunCreation;

  constructor(holding: Holding, creation: RunCreation) {
    this.#holding = holding;
    this.#creation = creation;
  }

  start(effect: StartEffect, done: (seen: ChildSeen) => void): Errand {
    const doing = `starting a run for step ${effect.step} of ${printableRun(effect.parent.run)}`;
    return this.#repeat(doing, () => startRun(this.#holding, this.#creation, effect), done);
  }

  tell(from: RunId, effect: TellEffect, done: () => void): Errand {
    const doing = `${effect.step} of ${printableRun(from)}`;
    return this.#repeat(doing, () => tellRun(this.#holding, this.#creation, from, effect), done);
  }

  #repeat<Answer>(doing: string, attempt: () => Promise<Answer | 'unknown'>, done: (answer: Answer) => void): Errand {
    const { clock, onError } = this.#holding.ports;
    let waiting: Timer | undefined;
    let wanted = true;
    const go = async (tries: number): Promise<void> => {
      let answer: Answer | 'unknown' = 'unknown';
      try {
        answer = await attempt();
      } catch (error) {
        // Reads that fail have no other way to say so; a bug shows again at the next try.
        onError(error, doing);
      }
      if (!wanted) return;
      if (answer !== 'unknown') {
        wanted = false;
        return done(answer);
      }
      waiting = clock.after(Math.min(maxPauseMs, firstPauseMs * 2 ** tries), () => void go(tries + 1));
    };
    void go(0);
    return {
      giveUp: () => {
        wanted = false;
        waiting?.cancel();
      },
    };
  }
}
