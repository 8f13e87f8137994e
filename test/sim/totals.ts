// Sums over many histories: whether enough happened in them for their being clean to mean something.

import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { type Counts, type EventKind, emptiness } from './counts.ts';
import { type FaultKind, faultKinds } from './world/fault-kinds.ts';

/** Histories that have to count, of all. */
const leastShareCounted = 0.9;

export class Totals {
  readonly faults = new Map<FaultKind, number>();
  readonly runsByState = new Map<State, number>();
  readonly eventsByKind = new Map<EventKind, number>();
  /** Why histories don't count, by seed. */
  readonly empty = new Map<number, string>();
  histories = 0;
  runs = 0;
  children = 0;
  writesAccepted = 0;
  writesRefused = 0;
  staleWritesRefused = 0;
  callsAnswered = 0;
  callsRepeated = 0;
  callsWithdrawn = 0;
  longestRestMs = 0;
  /** Histories in which processes stood still, and those of them in which one of them wrote and was refused. */
  withPauses = 0;
  withPausesAndStaleWrites = 0;

  add(seed: number, counts: Counts): void {
    const why = emptiness(counts);
    if (why !== undefined) this.empty.set(seed, why);
    this.histories++;
    for (const [kind, count] of counts.faults) this.faults.set(kind, (this.faults.get(kind) ?? 0) + count);
    for (const [state, count] of counts.runsByState)
      this.runsByState.set(state, (this.runsByState.get(state) ?? 0) + count);
    for (const [kind, count] of counts.eventsByKind)
      this.eventsByKind.set(kind, (this.eventsByKind.get(kind) ?? 0) + count);
    this.runs += counts.runs;
    this.children += counts.children;
    this.writesAccepted += counts.writesAccepted;
    this.writesRefused += counts.writesRefused;
    this.staleWritesRefused += counts.staleWritesRefused;
    this.callsAnswered += counts.callsAnswered;
    this.callsRepeated += counts.callsRepeated;
    this.callsWithdrawn += counts.callsWithdrawn;
    this.longestRestMs = Math.max(this.longestRestMs, counts.restMs);
    if (!counts.faults.has('pause')) return;
    this.withPauses++;
    if (counts.staleWritesRefused > 0) this.withPausesAndStaleWrites++;
  }

  /** Histories that prove something. */
  get counted(): number {
    return this.histories - this.empty.size;
  }

  /** What is missing for all of them together to prove something; empty when nothing is. */
  missing(): string[] {
    const missing: string[] = [];
    if (this.counted < this.histories * leastShareCounted)
      missing.push(`only ${this.counted} of ${this.histories} histories count`);
    if (this.withPauses > 0 && this.withPausesAndStaleWrites === 0)
      missing.push(`processes stood still in ${this.withPauses} histories, and no stale write was refused`);
    return missing;
  }

  lines(): string[] {
    const states = [...this.runsByState].sort(([one], [other]) => one - other);
    const kinds = faultKinds.map((kind) => `${this.faults.get(kind) ?? 0} ${kind}`);
    return [
      `histories ${this.histories}, of which ${this.counted} count`,
      ...[...this.empty].map(([seed, why]) => `  seed ${seed} doesn't count: ${why}`),
      `runs ${this.runs}: ${states.map(([state, count]) => `${count} ${State[state]}`).join(', ')}; ` +
        `${this.children} of them children`,
      `events ${[...this.eventsByKind].map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
      `writes ${this.writesAccepted} accepted, ${this.writesRefused} refused, of which ${this.staleWritesRefused} stale ` +
        `(in ${this.withPausesAndStaleWrites} of the ${this.withPauses} histories with pauses)`,
      `calls ${this.callsAnswered} answered well, ${this.callsRepeated} delivered again with the same key, ` +
        `${this.callsWithdrawn} taken back`,
      `faults ${kinds.join(', ')}`,
      `at rest ${this.longestRestMs / 1_000} s after healing at the latest`,
    ];
  }
}
