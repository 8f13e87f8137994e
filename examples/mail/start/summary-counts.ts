import type { Summary } from './weir.ts';

/** Runs by state, in the order of the summary; reasons are added up. */
export function countByState(summary: Summary): Record<string, number> {
  const byState: Record<string, number> = {};
  for (const { state, count } of summary.runs) byState[state] = (byState[state] ?? 0) + count;
  return byState;
}

export interface Settled {
  readonly runs: number;
  /** Ended, or parked: what goes on only when a person says so. */
  readonly settled: number;
}

export function countSettled(summary: Summary): Settled {
  const byState = countByState(summary);
  const runs = Object.values(byState).reduce((sum, count) => sum + count, 0);
  return { runs, settled: runs - (byState['OPEN'] ?? 0) - (byState['ENDING'] ?? 0) };
}
