// What a worker says of one seed.

import type { Violation } from './checkers/check.ts';
import type { Counts } from './counts.ts';

export interface SeedReport {
  readonly seed: number;
  /** The first of them. */
  readonly violations: readonly Violation[];
  /** How many others there are. */
  readonly more: number;
  /** Absent when the world broke. */
  readonly counts?: Counts;
}
