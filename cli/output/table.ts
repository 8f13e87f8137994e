/** A cell: a number stands at the right and gets its thousands separated. */
export type Cell = string | number;

/** Columns as wide as their widest cell, two spaces between; nothing is cut. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const right = head.map((_, column) => rows.some((row) => typeof row[column] === 'number'));
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
  );
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = (text: string, column: number): string => {
    const width = widths[column] ?? 0;
    return right[column] === true ? text.padStart(width) : text.padEnd(width);
  };
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n');
}
