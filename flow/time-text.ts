// Times as texts: RFC 3339, with a time zone, so that they mean the same everywhere.

const form =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since 1970 of a text such as `2026-01-31T08:00:00Z`; seconds may be left out. Undefined when it is no time. */
export function timeOfText(text: string): number | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const [, year, month, day] = match.map(Number);
  if (!isDay(year ?? 0, month ?? 0, day ?? 0)) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- The text says its time zone: no clock and no place has a part in it.
  return Date.parse(text);
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}
