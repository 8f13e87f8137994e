// `weir store init`

import { initTable } from '../../store/hbase/table.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { count } from '../output/text.ts';
import { type StorePlace, withHBase } from './connect.ts';

/** Regions of a new table where nobody says how many: some for each server of a small cluster. */
const defaultRegions = 16;

export interface StoreInitOptions extends StorePlace {
  readonly shards: number;
  readonly regions?: number;
}

export async function initStore(options: StoreInitOptions, printer: Printer): Promise<void> {
  const { table, shards, regions = Math.min(shards, defaultRegions) } = options;
  const outcome = await withHBase(options, (hbase) => initTable(hbase, table, { shards, regions }));
  if (printer.json) printer.line(toJson({ table, shards, created: outcome === 'created' }));
  else if (outcome === 'created') {
    printer.line(`table ${table}: made, ${count(shards)} shards in ${count(regions)} regions`);
  } else {
    printer.line(`table ${table}: there already, with ${count(shards)} shards`);
  }
}
