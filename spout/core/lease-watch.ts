// What to do about a lease entry: the rules of protocol §5, as a memory of fences and one decision.
//
// Owns one entry for each held run that is due, from the first look until a whole pass doesn't meet it any more.
//
// Invariants:
//   W1  A run is offered only when its holder said that it doesn't hold it, or is gone: silence is no answer.
//   W2  At most `maxLeases` entries: the oldest is forgotten for a new one, which costs a question more.
//   W3  One alarm a run and fence.

import type { RunId } from '../../flow/run.ts';
import { type SeenFence, sameFence } from './fence.ts';

export interface LeaseSettings {
  /** Entries, see SpoutSettings. */
  readonly maxLeases: number;
  readonly askAfterMs: number;
  readonly askTimeoutMs: number;
  readonly stuckMs: number;
}

/** `gone`: its incarnation has been away for long enough, and no link leads to it. `silent`: there is no link to ask it by. */
export type HolderStanding = 'gone' | 'reachable' | 'silent';

export type LeaseAction = 'wait' | 'ask' | 'offer' | 'alarm';

interface Entry {
  readonly fence: SeenFence;
  /** When this fence was first met. */
  readonly sinceMs: number;
  /** Not asked before. */
  readonly askMs: number;
  readonly alarmed: boolean;
  readonly pass: number;
}

export class LeaseWatch {
  readonly #settings: LeaseSettings;
  readonly #entries = new Map<RunId, Entry>();
  #pass = 0;

  constructor(settings: LeaseSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** A due entry was met. All times are the spout's own monotonic clock, in ms: holders' clocks judge nothing. */
  look(run: RunId, fence: SeenFence, holder: HolderStanding, nowMs: number): LeaseAction {
    const { askAfterMs, askTimeoutMs, stuckMs } = this.#settings;
    const known = this.#entries.get(run);
    const moved = known !== undefined && !sameFence(known.fence, fence);
    const entry =
      known === undefined || moved
        ? { fence, sinceMs: nowMs, askMs: moved ? nowMs + askAfterMs : nowMs, alarmed: false, pass: this.#pass }
        : { ...known, pass: this.#pass };
    if (holder === 'gone') return this.#decided(run, entry, 'offer');
    if (nowMs - entry.sinceMs >= stuckMs && !entry.alarmed)
      return this.#decided(run, { ...entry, alarmed: true }, 'alarm');
    if (holder === 'silent' || nowMs < entry.askMs) return this.#decided(run, entry, 'wait');
    return this.#decided(run, { ...entry, askMs: nowMs + askTimeoutMs }, 'ask');
  }

  /** The holder answered the question about `fence`. */
  answered(run: RunId, fence: SeenFence, holds: boolean, nowMs: number): 'wait' | 'offer' {
    if (!holds) return 'offer';
    const entry = this.#entries.get(run);
    if (entry && sameFence(entry.fence, fence)) {
      this.#entries.set(run, { ...entry, askMs: nowMs + this.#settings.askAfterMs });
    }
    return 'wait';
  }

  /** The alarm couldn't be recorded: it is due again. */
  notAlarmed(run: RunId, fence: SeenFence): void {
    const entry = this.#entries.get(run);
    if (entry && sameFence(entry.fence, fence)) this.#entries.set(run, { ...entry, alarmed: false });
  }

  /** A pass over all lease entries is over. After a `whole` one, runs that it didn't meet are forgotten: they aren't held any more. */
  endPass(whole: boolean): void {
    if (whole) for (const [run, { pass }] of this.#entries) if (pass < this.#pass) this.#entries.delete(run);
    this.#pass++;
  }

  #decided(run: RunId, entry: Entry, action: LeaseAction): LeaseAction {
    if (!this.#entries.has(run)) {
      for (const oldest of this.#entries.keys()) {
        if (this.#entries.size < this.#settings.maxLeases) break;
        this.#entries.delete(oldest);
      }
    }
    this.#entries.set(run, entry);
    return action;
  }
}
