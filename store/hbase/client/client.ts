// The HBase client, put together.

import type { Clock } from '../../../platform/clock/clock.ts';
import { systemClock } from '../../../platform/clock/system-clock.ts';
import { Connections } from './connections.ts';
import { GroupWrites } from './group-writes.ts';
import { Locator } from './locator.ts';
import type { HBase } from './port.ts';
import { RowReads } from './row-reads.ts';
import { TableAdmin } from './table-admin.ts';
import { TableScanner } from './table-scanner.ts';

export interface HBaseOptions {
  /** Of region servers or masters, `host:port`, 1 to 64: whom to ask where things are. Some of a cluster are enough. */
  readonly addresses: readonly string[];
  /** `host:port` to connect to, by the `host:port` that a server says of itself: where the way leads through a tunnel. Default: none. */
  readonly via?: ReadonlyMap<string, string>;
  /** The name that the servers see; default `weir`. */
  readonly user?: string;
  /**
   * Milliseconds for one call to one server, at least 1; default 5,000: a healthy server answers in a few, and a frozen one
   * must show before the patience of whoever waits is over.
   */
  readonly callTimeoutMs?: number;
  /** Milliseconds for all tries of one operation; default 20,000: a region that moves or splits is back within that time. */
  readonly operationTimeoutMs?: number;
  /** Milliseconds until an address counts as unreachable; default 2,000. */
  readonly connectTimeoutMs?: number;
  /**
   * Calls at one server at a time; default 50. A server turns away what exceeds ten times its handlers (100 of 10 handlers, 300 of the
   * 30 that are its default), of all clients together.
   */
  readonly maxInFlight?: number;
  /** Calls that wait for one server; default 5,000. Beyond it writes are `notSent` at once: whoever sends so many must slow down. */
  readonly maxWaiting?: number;
  /** Bytes of one Multi with writes; default 4 MB. */
  readonly maxBatchBytes?: number;
  /** Bytes of one answer; default 128 MB, which is more than a server puts into one. A larger one closes the connection. */
  readonly maxResponseBytes?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Gives 0 to 1, for pauses and nonces; default `Math.random`. */
  readonly random?: () => number;
}

const maxAddresses = 64;
const megabyte = 1024 * 1024;

/** Connects with its first call. Throws RangeError for options that can't be. */
export function connectHBase(options: HBaseOptions): HBase {
  checkAddresses(options.addresses);
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const patience = {
    clock,
    random,
    callTimeoutMs: positive('callTimeoutMs', options.callTimeoutMs ?? 5_000),
    operationTimeoutMs: positive('operationTimeoutMs', options.operationTimeoutMs ?? 20_000),
  };
  const connectTimeoutMs = positive('connectTimeoutMs', options.connectTimeoutMs ?? 2_000);
  const connections = new Connections({
    clock,
    random,
    user: options.user ?? 'weir',
    via: options.via ?? new Map<string, string>(),
    connectTimeoutMs,
    maxInFlight: positive('maxInFlight', options.maxInFlight ?? 50),
    maxWaiting: positive('maxWaiting', options.maxWaiting ?? 5_000),
    maxResponseBytes: positive('maxResponseBytes', options.maxResponseBytes ?? 128 * megabyte),
  });
  const lookupTimeoutMs = Math.min(patience.callTimeoutMs, connectTimeoutMs);
  const locator = new Locator(connections, { addresses: options.addresses, lookupTimeoutMs });
  const parts = { connections, locator, patience };
  const reads = new RowReads(parts);
  const maxBatchBytes = positive('maxBatchBytes', options.maxBatchBytes ?? 4 * megabyte);
  const writes = new GroupWrites({ ...parts, maxBatchBytes });
  return {
    admin: new TableAdmin(parts),
    mutateRows: (table, groups) => writes.write(table, groups),
    get: (table, row, readOptions = {}) => reads.get(table, row, readOptions),
    getMany: (table, rows, readOptions = {}) => reads.getMany(table, rows, readOptions),
    scan: (table, scanOptions) => new TableScanner({ ...scanOptions, ...parts, table }),
    async close() {
      connections.close();
    },
  };
}

function checkAddresses(addresses: readonly string[]): void {
  if (addresses.length === 0 || addresses.length > maxAddresses) {
    throw new RangeError(`"addresses" of HBase has ${addresses.length} entries; 1 to ${maxAddresses} are allowed`);
  }
  for (const address of addresses) {
    const port = Number(/^[^\s:]+:(\d{1,5})$/.exec(address)?.[1]);
    if (port >= 1 && port <= 65_535) continue;
    throw new RangeError(`"addresses" of HBase has "${address}"; host:port is allowed`);
  }
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`"${name}" of HBase is ${value}; integers from 1 are allowed`);
}
