import type { Command } from 'commander';
import { addressOption, jsonOption } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';

export function moduleCommand(parent: Command): Command {
  const module = parent
    .command('module')
    .summary('see the modules that the engine calls')
    .description('Works with modules.');
  module
    .command('list')
    .summary('list modules and their endpoints')
    .description(
      'Lists the modules that the engine knows: where each endpoint comes from, what it says of itself, its health and the calls that are out.',
    )
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir module list')
    .action(async ({ address, json }: { address: string; json?: boolean }) =>
      (await import('../module/list.ts')).listModules(address, printerOf(json)),
    );
  return module;
}
