// Sums over many histories: whether enough happened in them for their being clean to mean something.

import { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import type { Counts } from './run.ts';
import { type FaultKind, faultKinds } from './world/fault-kinds.ts';

export class Totals {
  readonly faults = new Map<FaultKind, number>();
  readonly runsByState = new Map<State, number>();
  runs = 0;
  writesAccepted = 0;
  writesRefused = 0;
  callsAnswered = 0;
  callsRepeated = 0;
  callsWithdrawn = 0;
  longestRestMs = 0;

  add(counts: Counts): void {
    for (const [kind, count] of counts.faults) this.faults.set(kind, (this.faults.get(kind) ?? 0) + count);
    for (const [state, count] of counts.runsByState)
      this.runsByState.set(state, (this.runsByState.get(state) ?? 0) + count);
    this.runs += counts.runs;
    this.writesAccepted += counts.writesAccepted;
    this.writesRefused += counts.writesRefused;
    this.callsAnswered += counts.callsAnswered;
    this.callsRepeated += counts.callsRepeated;
    this.callsWithdrawn += counts.callsWithdrawn;
    this.longestRestMs = Math.max(this.longestRestMs, counts.restMs);
  }

  lines(): string[] {
    const states = [...this.runsByState].sort(([one], [other]) => one - other);
    return [
      `runs ${this.runs}: ${states.map(([state, count]) => `${count} ${State[state]}`).join(', ')}`,
      `writes ${this.writesAccepted} accepted, ${this.writesRefused} refused`,
      `calls ${this.callsAnswered} answered well, ${this.callsRepeated} delivered again with the same key, ` +
        `${this.callsWithdrawn} taken back`,
      `faults ${faultKinds.map((kind) => `${this.faults.get(kind) ?? 0} ${kind}`).join(', ')}`,
      `at rest ${this.longestRestMs / 1_000} s after healing at the latest`,
    ];
  }
}
