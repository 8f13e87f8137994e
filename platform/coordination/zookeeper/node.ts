// Nodes of ZooKeeper's tree, and what changes them.

import { CreateMode, type Stat, type Transaction } from 'node-zookeeper-client';

export interface Node {
  readonly data: Uint8Array;
  readonly stat: NodeStat;
}

export interface NodeStat {
  /** Rises with each change of the data. */
  readonly version: number;
  /** The session whose end removes the node; undefined when it stays. */
  readonly owner: string | undefined;
  /** Of the data. */
  readonly bytes: number;
  /** By the servers' clock, in ms since 1970. */
  readonly createdMs: number;
}

export type Operation =
  | { readonly kind: 'create'; readonly path: string; readonly data: Uint8Array; readonly mode: keyof typeof modes }
  /** `version` −1: whichever it has. */
  | { readonly kind: 'write'; readonly path: string; readonly data: Uint8Array; readonly version: number }
  | { readonly kind: 'remove'; readonly path: string };

const modes = {
  persistent: CreateMode.PERSISTENT,
  ephemeral: CreateMode.EPHEMERAL,
  /** A number that rises with each node below the same parent is appended to the name. */
  sequential: CreateMode.PERSISTENT_SEQUENTIAL,
} as const;

/**
 * Adds an operation to a transaction, below `root`. Throws a RangeError for version 0: the library would send −1 for it, which compares
 * nothing.
 */
export function addOperation(transaction: Transaction, root: string, operation: Operation): void {
  const path = root + operation.path;
  switch (operation.kind) {
    case 'create':
      transaction.create(path, Buffer.from(operation.data), modes[operation.mode]);
      return;
    case 'write':
      if (operation.version === 0) throw new RangeError(`version 0 of ${path} can't be compared in a transaction`);
      transaction.setData(path, Buffer.from(operation.data), operation.version);
      return;
    case 'remove':
      transaction.remove(path);
  }
}

export function statOf(stat: Stat): NodeStat {
  const owner = stat.ephemeralOwner.toString('hex');
  return {
    version: stat.version,
    owner: /^0+$/.test(owner) ? undefined : owner,
    bytes: stat.dataLength,
    createdMs: Number(stat.ctime.readBigInt64BE()),
  };
}
