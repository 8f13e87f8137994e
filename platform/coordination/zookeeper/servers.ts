// Which servers, and where on them.

export interface ZooKeeperPlace {
  /** Each `host:port`; at least one. */
  readonly servers: readonly string[];
  /** The node below which everything of a cluster lies, as `/weir`; empty for the root of the tree. */
  readonly root: string;
}

const serverForm = /^[A-Za-z0-9._-]+:(\d{1,5})$/;
const rootForm = /^(\/[A-Za-z0-9._-]+)+$/;

/** Throws a RangeError that names the part that can't be. */
export function checkPlace({ servers, root }: ZooKeeperPlace): void {
  if (servers.length === 0) throw new RangeError('no ZooKeeper server is named; at least one host:port is needed');
  for (const server of servers) {
    const port = Number(serverForm.exec(server)?.[1] ?? 0);
    if (port < 1 || port > 65_535) {
      throw new RangeError(
        `not a ZooKeeper server: ${JSON.stringify(server)}; allowed is host:port, port from 1 to 65535`,
      );
    }
  }
  const isRelative = root.split('/').some((part) => part === '.' || part === '..');
  if (root !== '' && (isRelative || !rootForm.test(root))) {
    throw new RangeError(`not a ZooKeeper root: ${JSON.stringify(root)}; allowed is /part/part of A-Z a-z 0-9 . _ -`);
  }
}
