import { type Command, InvalidArgumentError, Option } from 'commander';
import { address, jsonOption, list, wholeNumber } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';
import { isPlainName, plainNameRule } from '../plain-name.ts';
import type { StorePlace } from '../store/connect.ts';

const maxServers = 64;

export function storeCommand(parent: Command): Command {
  const store = parent
    .command('store')
    .summary('make and check the table of a cluster')
    .description('Works with the table of HBase that is the store of a cluster. No engine is needed.');
  initCommand(store);
  verifyCommand(store);
  return store;
}

function initCommand(store: Command): void {
  placed(store.command('init'))
    .summary('make the table')
    .description(
      'Makes the table, cut into regions at the bounds of shards. Does nothing where it is already. The number of shards stays for the life of the table: it is how many spouts and region servers can share the work at most.',
    )
    .option('--shards <number>', 'buckets of runs', wholeNumber(1, 65_536), 64)
    .option(
      '--regions <number>',
      'regions to begin with; as many as shards, but at most 16, when not given',
      wholeNumber(1, 65_536),
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir store init --hbase hbase-1:16020,hbase-2:16020 --shards 256 --regions 32')
    .action(async ({ json, ...options }: StorePlace & { shards: number; regions?: number; json?: boolean }) =>
      (await import('../store/init.ts')).initStore(options, printerOf(json)),
    );
}

function verifyCommand(store: Command): void {
  placed(store.command('verify'))
    .summary('compare the index with the runs')
    .description(
      'Reads all runs and all of the index, and says where they differ. Slow; the cluster may go on meanwhile. Ends with 3 when something is left that differs.',
    )
    .option('--repair', 'mend what differs')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir store verify --hbase hbase-1:16020 --repair')
    .action(async ({ json, ...options }: StorePlace & { repair?: boolean; json?: boolean }) =>
      (await import('../store/verify.ts')).verifyStore(options, printerOf(json)),
    );
}

function placed(command: Command): Command {
  return command
    .addOption(
      new Option('--hbase <addresses>', 'region servers or masters, host:port, separated by commas')
        .env('WEIR_HBASE_SERVERS')
        .argParser(servers)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--table <name>', 'the table').env('WEIR_HBASE_TABLE').default('weir').argParser(tableName));
}

function servers(text: string): string[] {
  const found = list(text).map(address(1));
  if (found.length <= maxServers) return found;
  throw new InvalidArgumentError(`Allowed are 1 to ${maxServers} addresses: they lead to the others.`);
}

/** As in the cluster file. */
function tableName(text: string): string {
  if (isPlainName(text)) return text;
  throw new InvalidArgumentError(`Allowed are ${plainNameRule}.`);
}
