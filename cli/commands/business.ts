import type { Command } from 'commander';
import { addressOption, authorOption, jsonOption, list, wholeNumber } from '../arguments.ts';
import type { SetOptions } from '../business/businesses.ts';
import { printerOf } from '../output/printer.ts';

interface Common {
  readonly address: string;
  readonly json?: boolean;
}

export function businessCommand(parent: Command): Command {
  const business = parent
    .command('business')
    .summary('say who answers for flows and items')
    .description('Works with business lines. The first flow of a business line creates it, with its author as owner.');
  business
    .command('set')
    .summary('create a business line, or change it')
    .description('Creates a business line, or changes what is named of it.')
    .argument('<name>', '[a-z][a-z0-9_-]*, up to 64 characters')
    .option('--owners <names>', 'people or groups that answer for it, separated by commas; replaces the list', list)
    .option('--description <text>', 'what it is')
    .option(
      '--expect <revision>',
      'the revision you have seen, 0 for none; another one is a conflict',
      wholeNumber(0, 2 ** 32 - 1),
    )
    .addOption(authorOption())
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  weir business set mail --owners ann,team-mail --description "Letters and parcels"',
    )
    .action(async (name: string, { address, json, ...options }: Common & SetOptions) =>
      (await import('../business/businesses.ts')).setBusiness(name, options, address, printerOf(json)),
    );
  business
    .command('list')
    .summary('list business lines')
    .description('Lists business lines with their owners.')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir business list')
    .action(async ({ address, json }: Common) =>
      (await import('../business/businesses.ts')).listBusinesses(address, printerOf(json)),
    );
  return business;
}
