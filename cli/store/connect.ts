import { connectHBase } from '../../store/hbase/client/client.ts';
import { type HBase, HBaseFailure } from '../../store/hbase/client/port.ts';
import { StoreTableError } from '../../store/hbase/table.ts';
import { CommandFailure, exitCodes, usageFailure } from '../failure.ts';
import { keptAlive } from '../kept-alive.ts';

/** Where the table is. */
export interface StorePlace {
  /** Addresses of region servers or masters. */
  readonly hbase: readonly string[];
  readonly table: string;
}

/** Does something with HBase; what it doesn't allow is told to the person who asked. */
export async function withHBase<Answer>(place: StorePlace, ask: (hbase: HBase) => Promise<Answer>): Promise<Answer> {
  const hbase = connectHBase({ addresses: place.hbase });
  try {
    return await keptAlive(() => ask(hbase));
  } catch (error) {
    if (error instanceof StoreTableError) throw usageFailure(error.message, error);
    if (!(error instanceof HBaseFailure)) throw error;
    throw new CommandFailure(exitCodes.failed, `HBase at ${place.hbase.join(', ')}: ${error.message}`, error);
  } finally {
    await hbase.close();
  }
}
