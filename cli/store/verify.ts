// `weir store verify`

import { openTable } from '../../store/hbase/table.ts';
import { type VerificationFinding, verifyShard } from '../../store/hbase/verification.ts';
import { printableRun } from '../../store/run-name.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { count } from '../output/text.ts';
import { type StorePlace, withHBase } from './connect.ts';

export interface StoreVerifyOptions extends StorePlace {
  readonly repair?: boolean;
}

/** Throws a CommandFailure when something is left that differs. */
export async function verifyStore(options: StoreVerifyOptions, printer: Printer): Promise<void> {
  const { table, repair = false } = options;
  const totals = { runs: 0, entries: 0, missing: 0, stale: 0, repaired: 0 };
  await withHBase(options, async (hbase) => {
    const shards = await openTable(hbase, table, undefined);
    const onFinding = (finding: VerificationFinding) => printFinding(finding, printer);
    for (let shard = 0; shard < shards; shard++) {
      await verifyShard(shard, { hbase, table, shards, repair, onFinding }, totals);
    }
  });
  if (printer.json) printer.line(toJson({ table, ...totals }));
  else {
    printer.line(
      `table ${table}: ${count(totals.runs)} runs, ${count(totals.entries)} entries; ${count(totals.missing)} missing, ${count(totals.stale)} stale, ${count(totals.repaired)} repaired`,
    );
  }
  const left = totals.missing + totals.stale - totals.repaired;
  if (left === 0) return;
  const hint = repair ? 'runs went on meanwhile, or HBase failed: verify again' : 'mend them with --repair';
  throw new CommandFailure(exitCodes.different, `${count(left)} entries differ from their runs; ${hint}`);
}

function printFinding({ kind, entry, run, repaired }: VerificationFinding, printer: Printer): void {
  const name = printableRun(run);
  if (printer.json) printer.line(toJson({ finding: kind, entry, run: name, repaired }));
  else printer.line(`${kind} ${entry} entry of ${name}${repaired ? ': repaired' : ''}`);
}
