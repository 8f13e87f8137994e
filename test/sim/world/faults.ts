// What goes wrong, and how often. Each seed has its own mixture; after healing nothing goes wrong any more.

import { type FaultKind, faultKinds, harmlessToCalls, worst } from './fault-kinds.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

/** How many of the kinds a world has: few together show what each does, many together what nobody thinks of. */
const shares = [0.1, 0.25, 0.5];
/** Worlds in which poison items are all that harms calls. */
const poisonedShare = 0.05;

export class Faults {
  /** Poison items are all that harms calls. */
  readonly isOnlyPoisoned: boolean;
  readonly #random: Random;
  readonly #history: History;
  readonly #rates = new Map<FaultKind, number>();
  readonly #expected = new Map<FaultKind, number>();
  #healed = false;

  constructor(random: Random, history: History) {
    this.#random = random;
    this.#history = history;
    const share = random.pick(shares);
    this.isOnlyPoisoned = random.chance(poisonedShare);
    for (const kind of faultKinds) {
      const isThere = random.chance(share) && (!this.isOnlyPoisoned || harmlessToCalls.has(kind));
      const severity = 0.1 + 0.9 * random.next();
      if (!isThere && !(this.isOnlyPoisoned && kind === 'poison item')) continue;
      const most = worst[kind];
      this.#rates.set(kind, most > 1 ? most / severity : most * severity);
    }
  }

  /** The kinds that this world has, whether or not they strike. */
  get kinds(): readonly FaultKind[] {
    return [...this.#rates.keys()];
  }

  /** How often each kind that this world has should have struck until now, on average: none where there was no occasion. */
  get expected(): ReadonlyMap<FaultKind, number> {
    return this.#expected;
  }

  get healed(): boolean {
    return this.#healed;
  }

  has(kind: FaultKind): boolean {
    return this.#rates.has(kind);
  }

  heal(): void {
    this.#healed = true;
    this.#history.add({ kind: 'healed' });
  }

  /** Whether a fault of this kind strikes now. One that does is recorded, as having struck `where`. */
  strikes(kind: FaultKind, where: string): boolean {
    const rate = this.#rates.get(kind);
    if (this.#healed || rate === undefined) return false;
    this.#expected.set(kind, (this.#expected.get(kind) ?? 0) + rate);
    if (!this.#random.chance(rate)) return false;
    this.record(kind, where);
    return true;
  }

  /** Until the next fault of a kind that comes by itself, in ms; undefined when this world has none. */
  intervalMs(kind: FaultKind): number | undefined {
    const meanMs = this.#rates.get(kind);
    if (meanMs === undefined) return undefined;
    // The one that is asked for now comes later, if it comes before the healing.
    this.#expected.set(kind, (this.#expected.get(kind) ?? -1) + 1);
    return this.#random.intervalMs(meanMs);
  }

  record(kind: FaultKind, where: string): void {
    this.#history.add({ kind: 'fault', fault: kind, where });
  }
}
