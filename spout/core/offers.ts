// What was offered lately and must rest before it is offered again.
//
// Owns one entry a run, from its offer until it is neither waited for nor remembered for its refusals.
//
// Invariants:
//   O1  An entry rests a run only at the fence at which it was offered: at another fence it is another piece of news.
//   O2  At most `maxOffers` entries: the oldest is forgotten for a new one. Forgetting early costs an offer that is answered
//       with "known".
//   O3  The ticket of every offer comes back once, when its entry is dropped, also when it was answered: the answer may be that to an
//       offer of the same run before it, while this one got lost. (`forgetLink` gives none back: what belongs to a link goes with it.)

import type { RunId } from '../../flow/run.ts';
import { type SeenFence, sameFence } from './fence.ts';

export interface OfferSettings {
  /** Entries, see SpoutSettings. */
  readonly maxOffers: number;
  readonly offerTimeoutMs: number;
  readonly reofferMs: number;
}

/** How long a run rests at most because of a lock, in ms: longer than locks live. A wrong number must not bury a run. */
const maxBusyMs = 60_000;

/** What the sender wants to know of an offer later; at least, by which link it went. */
interface Ticket {
  readonly link: object;
}

/**
 * What a dispatch said to an offer. `accepted`: the run is in good hands; `known`: it was before. `declined`: the dispatch has no
 * room, whatever the run. `gone`: there was nothing to take. Or another dispatch has the lock of the run, for so many ms at most.
 */
export type Verdict = 'accepted' | 'known' | 'declined' | 'gone' | { readonly busyForMs: number };

interface Entry<Sent extends Ticket> {
  readonly fence: SeenFence;
  readonly ticket: Sent;
  readonly restUntilMs: number;
  readonly answered: boolean;
  /** Answers at this fence that there was nothing to take. */
  readonly refusals: number;
}

export class Offers<Sent extends Ticket> {
  readonly #settings: OfferSettings;
  /** The oldest first. */
  readonly #entries = new Map<RunId, Entry<Sent>>();

  constructor(settings: OfferSettings) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** All times are monotonic, in ms. */
  mayOffer(run: RunId, fence: SeenFence, nowMs: number): boolean {
    const entry = this.#entries.get(run);
    return entry === undefined || nowMs >= entry.restUntilMs || !sameFence(entry.fence, fence);
  }

  /** Answers the tickets of the entries that made place for this one: an older one of the same run, or the oldest of all. */
  sent(run: RunId, fence: SeenFence, ticket: Sent, nowMs: number): readonly Sent[] {
    const { maxOffers, offerTimeoutMs } = this.#settings;
    const dropped: Sent[] = [];
    const earlier = this.#entries.get(run);
    const refusals = earlier !== undefined && sameFence(earlier.fence, fence) ? earlier.refusals : 0;
    this.#drop(run, dropped);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < maxOffers) break;
      this.#drop(oldest, dropped);
    }
    this.#entries.set(run, { fence, ticket, restUntilMs: nowMs + offerTimeoutMs, answered: false, refusals });
    return dropped;
  }

  /**
   * What still shows an accepted run at this fence is old, so it goes on resting. A declined one rests for `reofferMs`; one that
   * was gone too, and twice as long with each such answer at the same fence; one whose lock another has rests so once, then until
   * the lock ends. Answers by another link than the last offer's are
   * ignored.
   */
  answered(run: RunId, link: object, verdict: Verdict, nowMs: number): void {
    const entry = this.#entries.get(run);
    if (!entry || entry.ticket.link !== link || entry.answered) return;
    this.#entries.set(run, { ...entry, answered: true, ...this.#restAfter(verdict, entry.refusals, nowMs) });
  }

  #restAfter(verdict: Verdict, refusals: number, nowMs: number): { restUntilMs?: number; refusals?: number } {
    const { offerTimeoutMs, reofferMs } = this.#settings;
    if (typeof verdict === 'object') {
      // Whoever has just let the run go gives its lock back in a moment; only a lock that outlives that is worth waiting for.
      const restMs = refusals === 0 ? reofferMs : Math.max(reofferMs, Math.min(maxBusyMs, verdict.busyForMs));
      return { restUntilMs: nowMs + restMs, refusals: refusals + 1 };
    }
    switch (verdict) {
      case 'accepted':
      case 'known':
        return {};
      case 'declined':
        return { restUntilMs: nowMs + Math.min(offerTimeoutMs, reofferMs) };
      case 'gone':
        return { restUntilMs: nowMs + Math.min(offerTimeoutMs, reofferMs * 2 ** refusals), refusals: refusals + 1 };
    }
  }

  /** The link is gone: what was offered by it may be offered by others at once. */
  forgetLink(link: object): void {
    for (const [run, entry] of this.#entries) if (entry.ticket.link === link) this.#entries.delete(run);
  }

  /** Drops what rested long enough. Answers the tickets. */
  expire(nowMs: number): readonly Sent[] {
    const dropped: Sent[] = [];
    for (const [run, { answered, restUntilMs, refusals }] of this.#entries) {
      // A refusal is remembered beyond its rest, so that the next one at the same fence is known to be another.
      const keepMs = refusals > 0 && answered ? this.#settings.offerTimeoutMs : 0;
      if (restUntilMs + keepMs <= nowMs) this.#drop(run, dropped);
    }
    return dropped;
  }

  #drop(run: RunId, dropped: Sent[]): void {
    const entry = this.#entries.get(run);
    if (entry) dropped.push(entry.ticket);
    this.#entries.delete(run);
  }
}
