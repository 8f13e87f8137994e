// What a held run asks for where other runs are concerned. Done in errands.ts, on top of what holds runs: so it stands apart.

import type { StartEffect, TellEffect } from '../../flow/effect.ts';
import type { ChildSeen } from '../../flow/event.ts';
import type { RunId } from '../../flow/run.ts';

/** An errand as whoever sent it holds it. */
export interface Errand {
  /** Nobody wants it any more: what is under way may still happen, nothing more is begun. */
  giveUp(): void;
}

export interface Errands {
  /** Starts a run for the step of another, or finds it. */
  start(effect: StartEffect, done: (seen: ChildSeen) => void): Errand;
  /** Puts an event of `from` into the inbox of another run. */
  tell(from: RunId, effect: TellEffect, done: () => void): Errand;
}
