// Texts of flows, short enough for one line of a case.

/** A flow around the lines of its steps, the first of which is line 4. */
export function withSteps(...lines: string[]): string {
  return ['flow: f', 'business: b', 'steps:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** A flow with one step, and `line` as line 4. */
export function withLine(line: string): string {
  return ['flow: f', 'business: b', 'steps: { a: { call: m } }', line].join('\n');
}

/** A flow with the declared fields of line 3 and the steps from line 5 on. */
export function withFields(fields: string, ...lines: string[]): string {
  return ['flow: f', 'business: b', `fields: { ${fields} }`, 'steps:', ...lines.map((line) => `  ${line}`)].join('\n');
}

export const minimal = withSteps('a: { call: m }');

export function letters(count: number): string {
  return 'x'.repeat(count);
}

export function numbered(count: number, one: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => one(index));
}

/** Names of fields in a row, as in a list of a text. */
export function names(count: number): string {
  return numbered(count, (index) => `f${index}`).join(', ');
}
