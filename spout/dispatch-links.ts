// The links to all dispatches.
//
// Owns the table of open links, in the order in which they were opened.

import type { IndexHit } from '../store/port.ts';
import type { DispatchIdentity, DispatchLink } from './dispatch-link.ts';

export class DispatchLinks {
  readonly #random: () => number;
  readonly #links = new Set<DispatchLink>();

  constructor(random: () => number) {
    this.#random = random;
  }

  get size(): number {
    return this.#links.size;
  }

  add(link: DispatchLink): void {
    this.#links.add(link);
  }

  remove(link: DispatchLink): void {
    this.#links.delete(link);
  }

  /** Whom to offer a run of so many bytes: who can take the most runs; among equals, chance. Undefined: nobody has room. */
  roomiest({ control }: IndexHit): DispatchLink | undefined {
    let best: DispatchLink[] = [];
    for (const link of this.#links) {
      if (!link.fits(control.inputBytes)) continue;
      const most = best[0]?.freeRuns ?? 0;
      if (link.freeRuns > most) best = [link];
      else if (link.freeRuns === most) best.push(link);
    }
    return best.length < 2 ? best[0] : best[Math.floor(this.#random() * best.length)];
  }

  /** The newest link to this very incarnation that it has said something on: one that was only begun leads nowhere yet. */
  to(holder: DispatchIdentity): DispatchLink | undefined {
    let found: DispatchLink | undefined;
    for (const link of this.#links) {
      const { processId, incarnation } = link.dispatch;
      if (processId === holder.processId && incarnation === holder.incarnation && link.isHeard) found = link;
    }
    return found;
  }

  tellBacklog(levels: number): void {
    for (const link of this.#links) link.tellBacklog(levels);
  }

  close(): void {
    for (const link of this.#links) link.close();
    this.#links.clear();
  }
}
