// Paths of branches: `<step>[<index>]`.

export interface BranchPath {
  readonly step: string;
  /** From 0. */
  readonly index: number;
}

export function branchPath(step: string, index: number): string {
  return `${step}[${index}]`;
}

export function branchOf(path: string): BranchPath | undefined {
  if (!path.endsWith(']')) return undefined;
  const open = path.indexOf('[');
  return { step: path.slice(0, open), index: Number(path.slice(open + 1, -1)) };
}
