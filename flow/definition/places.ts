// Where in a text a path is.

import { childPath, type Position } from './problem.ts';
import type { SourceNode } from './source.ts';

/** Gives faults their places: of the value at their path, or of the nearest one around it that the text has. */
export function locate<Fault extends { readonly path: string }>(
  root: SourceNode,
  faults: readonly Fault[],
): Array<Fault & Position> {
  if (faults.length === 0) return [];
  const positions = new Map<string, Position>();
  collectPositions(positions, root, '', root);
  return faults.map((fault) => {
    const path = pathsAbove(fault.path).find((above) => positions.has(above));
    const { line, column } = positions.get(path ?? '') ?? root;
    return { ...fault, line, column };
  });
}

function collectPositions(positions: Map<string, Position>, node: SourceNode, path: string, position: Position): void {
  positions.set(path, position);
  if (node.kind === 'map') {
    for (const [key, entry] of node.entries) {
      collectPositions(positions, entry.value, childPath(path, key), entry.position);
    }
  } else if (node.kind === 'list') {
    node.items.forEach((item, index) => collectPositions(positions, item, `${path}[${index}]`, item));
  }
}

/** A path and all that it lies in, the path itself first, the whole flow last. */
export function pathsAbove(path: string): string[] {
  const paths = [path];
  for (let end = path.length - 1; end > 0; end--) {
    if (path[end] === '.' || path[end] === '[') paths.push(path.slice(0, end));
  }
  paths.push('');
  return paths;
}
