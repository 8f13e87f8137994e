// Durations as authors write them: `200ms`, `2s`, `10m`, `24h`, `7d`.

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Up to ten digits, so that milliseconds are exact. */
export const durationForm = /^([0-9]{1,10})(ms|s|m|h|d)$/;

/** Milliseconds, or undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = durationForm.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return Number(digits) * (unitMs[unit] ?? Number.NaN);
}

/** As short as it can be written exactly: 90000 is `90s`, 120000 is `2m`. */
export function printDuration(durationMs: number): string {
  const [unit, size] = Object.entries(unitMs).findLast(([, each]) => durationMs > 0 && durationMs % each === 0) ?? [
    'ms',
    1,
  ];
  return `${durationMs / size}${unit}`;
}
