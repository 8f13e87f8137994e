// A chaos run as a table for people.

import type { ChaosReport } from './harness.ts';

export function printReport(report: ChaosReport): string {
  const { states, kills, cancels, failPoints, troubles } = report;
  const struck = [...failPoints.values()];
  const deaths = struck.reduce((sum, point) => sum + point.deaths, 0);
  const rows: Array<readonly [string, string | number]> = [
    ['items', report.items],
    ['acknowledged', report.acknowledged],
    ...[...states.keys()].sort().map((state) => [state, states.get(state) ?? 0] as const),
    ['lost', report.lost],
    ['double terminal', report.doubleTerminal],
    ['wrong results', report.wrongResults],
    ['parked', report.parked],
    ...Object.entries(kills).map(([role, times]) => [`kills: ${role}`, times] as const),
    ...[...troubles].map(([name, times]) => [name, times] as const),
    ['stale writes refused', report.staleWrites],
    ['deaths at fail points', deaths],
    ['deaths of the poison item', report.poisonDeaths],
    ['pauses', report.pauses + struck.reduce((sum, point) => sum + point.stops, 0)],
    ['cancels (too late)', `${cancels.accepted + cancels.late} (${cancels.late})`],
    ['calls', report.calls],
    ['calls lost before they went out', report.unsentCalls],
    ['repeated calls', report.repeatedCalls],
    ['calls after the end', report.lateCalls],
    ['most calls of one key', report.mostCalls],
    ...report.losses.map((steps, losses) => [`steps with ${losses} losses`, steps] as const),
    ['seconds', report.seconds.toFixed(1)],
  ];
  if (failPoints.size === 0) return table(rows);
  const points = [...failPoints].map(([place, { armed, deaths, stops }]) => [place, armed, deaths, stops] as const);
  return `${table(rows)}\n\n${table([['fail point', 'armed', 'deaths', 'stops'], ...points])}`;
}

function table(rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const width = (column: number) => Math.max(...rows.map((row) => String(row[column]).length));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? String(cell).padEnd(width(0)) : String(cell).padStart(width(column))))
        .join('  '),
    )
    .join('\n');
}
