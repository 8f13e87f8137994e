// Where things of the configuration lie, below the session's root:
//
//   /configuration/tree/<path>            entries; a node without data is only the way to others
//   /configuration/chunks/<path>/<set>    large values, `~` for the slashes of the path (chunks.ts)
//   /configuration/changes/c-<number>     which entry each put has changed (change-log.ts)

export const treePath = '/configuration/tree';
const chunksPath = '/configuration/chunks';
export const changesPath = '/configuration/changes';

/** The node of an entry. `.` and `..` are good names of entries, but not of nodes. */
export function nodeOf(path: string): string {
  return `${treePath}/${path.split('/').map(escapePart).join('/')}`;
}

/** The folder of an entry's chunks. */
export function chunksOf(path: string): string {
  return `${chunksPath}/${path.split('/').map(escapePart).join('~')}`;
}

/** The name of an entry as it is in a path, from the name of its node. */
export function partOf(nodeName: string): string {
  return nodeName.startsWith('%') ? nodeName.slice(1) : nodeName;
}

function escapePart(part: string): string {
  return part === '.' || part === '..' ? `%${part}` : part;
}
