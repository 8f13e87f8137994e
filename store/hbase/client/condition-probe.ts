import { type HBase, HBaseFailure } from './port.ts';

/**
 * Asks whether the table takes conditional groups and heeds their conditions: servers before 2.4 ignore them, and a store on such a
 * server would lose every race. Nothing is changed either way. Returns what is wrong, or undefined. Throws
 * HBaseFailure when there is no answer.
 */
export async function findConditionFault(hbase: HBase, table: string, family: string): Promise<string | undefined> {
  const row = Buffer.of(0);
  const qualifier = Buffer.from('probe');
  const [result] = await hbase.mutateRows(table, [
    {
      row,
      mutations: [{ kind: 'delete', row, family, timestamp: 0, qualifiers: [qualifier] }],
      conditions: [{ row, family, qualifier, equals: Buffer.from('never written') }],
    },
  ]);
  if (result?.kind === 'conditionFailed') return undefined;
  if (result?.kind === 'done') {
    return `HBase ignores the conditions of a write to table "${table}": version 2.4 or later is needed`;
  }
  // It changes nothing, whether or not it came through.
  if (result?.kind === 'unknown' || result?.kind === 'notSent') throw new HBaseFailure('unavailable', result.cause);
  return `a conditional write to table "${table}" came to "${result?.kind}": ${result?.cause}`;
}
