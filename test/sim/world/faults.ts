// What goes wrong, and how often. Each seed has its own mixture; after healing nothing goes wrong any more.

import { type FaultKind, faultKinds, worst } from './fault-kinds.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

export class Faults {
  readonly #random: Random;
  readonly #history: History;
  readonly #rates = new Map<FaultKind, number>();
  #healed = false;

  constructor(random: Random, history: History) {
    this.#random = random;
    this.#history = history;
    for (const kind of faultKinds) {
      if (!random.chance(0.6)) continue;
      const severity = 0.1 + 0.9 * random.next();
      const most = worst[kind];
      this.#rates.set(kind, most > 1 ? most / severity : most * severity);
    }
  }

  get healed(): boolean {
    return this.#healed;
  }

  heal(): void {
    this.#healed = true;
    this.#history.add({ kind: 'healed' });
  }

  /** Whether a fault of this kind strikes now. One that does is recorded, as having struck `where`. */
  strikes(kind: FaultKind, where: string): boolean {
    const rate = this.#rates.get(kind);
    if (this.#healed || rate === undefined || !this.#random.chance(rate)) return false;
    this.record(kind, where);
    return true;
  }

  /** Until the next fault of a kind that comes by itself, in ms; undefined when this world has none. */
  intervalMs(kind: 'crash' | 'pause' | 'drain' | 'closed link' | 'locks flushed'): number | undefined {
    const meanMs = this.#rates.get(kind);
    return meanMs === undefined ? undefined : this.#random.intervalMs(meanMs);
  }

  record(kind: FaultKind, where: string): void {
    this.#history.add({ kind: 'fault', fault: kind, where });
  }
}
