// Why a process of a cluster did not start, in words for whoever started it.

import { RedisRefusedError } from '../../platform/coordination/redis/connection.ts';
import { HBaseFailure } from '../../store/hbase/client/port.ts';
import { StoreTableError } from '../../store/hbase/table.ts';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';

/** What was thrown, as the end of the command. `servers`: of HBase. With code 2 where somebody has to set something right before it can succeed. */
export function startFailure(thrown: unknown, servers: readonly string[]): CommandFailure {
  if (thrown instanceof CommandFailure) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const atHBase = `HBase at ${servers.join(', ')}: ${message}`;
  if (thrown instanceof StoreTableError) return usageFailure(atHBase, thrown);
  if (thrown instanceof RedisRefusedError) return usageFailure(message, thrown);
  return new CommandFailure(exitCodes.failed, thrown instanceof HBaseFailure ? atHBase : message, thrown);
}
