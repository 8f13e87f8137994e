// Who disturbs the processes of a target, and how far the client may be with its items meanwhile.

import type { FailPointDrill } from './fail-point-drill.ts';
import type { Role } from './supervised-process.ts';

export interface Disturber {
  /** For people: what is to come. */
  readonly plan: string;
  /** Items that the client may have sent by now. */
  allowed(): number;
  /** Resolves when enough was disturbed, and everything is left in peace. */
  disturb(): Promise<void>;
  /** For WEIR_FAIL_POINT of an engine that starts now; undefined: none. */
  nextFailPoint(): string | undefined;
  /** A process ended or stopped itself as it had announced. False: nobody wanted it to. */
  strike(what: string): boolean;
  /** What was done so far. */
  readonly done: Done;
  /** What should have been done, and wasn't. */
  readonly missed: readonly string[];
}

export interface Done {
  readonly kills: Readonly<Partial<Record<Role, number>>>;
  readonly pauses: number;
  readonly failPoints: FailPointDrill['record'];
  /** How often each thing besides the processes failed, by name. */
  readonly troubles: ReadonlyMap<string, number>;
}

/** What a disturber needs of the harness. */
export interface Surroundings {
  /** Rejects when the harness has failed meanwhile. */
  readonly pass: (durationMs: number) => Promise<void>;
  readonly trace: (line: string) => void;
}
