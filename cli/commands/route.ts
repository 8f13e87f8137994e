import type { Command } from 'commander';
import { addressOption, authorOption, commentOption, jsonOption, wholeNumber } from '../arguments.ts';
import type { PushOptions } from '../flow/flows.ts';
import type { AuditOptions } from '../flow/release.ts';
import { printerOf } from '../output/printer.ts';
import type { TestOptions } from '../route/test.ts';
import { auditOptions } from './flow-release.ts';

interface Common {
  readonly address: string;
  readonly json?: boolean;
}

const version = wholeNumber(1, 10_000);
const businessArgument = 'name of the business line';

export function routeCommand(parent: Command): Command {
  const route = parent
    .command('route')
    .summary('say which flow items take that name none')
    .description('Works with routes: rules by which items take a flow that name none.');
  pushCommand(route);
  testCommand(route);
  releaseCommand(route);
  rollbackCommand(route);
  releasesCommand(route);
  listCommand(route);
  showCommand(route);
  return route;
}

function pushCommand(route: Command): void {
  route
    .command('push')
    .summary('store routes as the next version of their business line')
    .description(
      'Stores routes as the next version of their business line. Content that is there already keeps its version.',
    )
    .argument('<file>', 'a file of routes, YAML or JSON')
    .option('--release', 'route items by it at once')
    .option(
      '--expect <version>',
      'the newest version you have seen, 0 for none; another one is a conflict',
      wholeNumber(0, 10_000),
    )
    .addOption(authorOption())
    .addOption(commentOption())
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route push mail.routes.yaml --release')
    .action(async (file: string, { address, json, ...options }: Common & PushOptions) =>
      (await import('../route/routes.ts')).pushRoutes(file, options, address, printerOf(json)),
    );
}

const testHelp = `
An item is written as a line of 'weir submit'; business line, key and flow may be left out. A file of cases has items with what is
expected of them, a flow or an outcome (refused, failed):

  cases:
    - { item: { fields: { country: de } }, flow: mail-eu }
    - { name: unknown country, item: { fields: { country: xx } }, outcome: refused }

Examples:
  weir route test mail.routes.yaml --item item.json
  weir route test mail --cases mail.cases.yaml`;

function testCommand(route: Command): void {
  route
    .command('test')
    .summary('see which rule takes an item, and why')
    .description(
      'Tells which rule takes an item, with the values it read, or checks a file of cases. A file of routes needs no engine. Ends with 1 when the rules fail for the item, or a case comes out otherwise.',
    )
    .argument('<routes>', 'a file of routes, or a business line, whose released routes are tested')
    .option('--item <file>', 'an item, JSON')
    .option('--cases <file>', 'items and what is expected of each, YAML or JSON')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', testHelp)
    .action(async (routes: string, { address, json, ...options }: Common & TestOptions) =>
      (await import('../route/test.ts')).testRoutes(routes, options, address, printerOf(json)),
    );
}

function releaseCommand(route: Command): void {
  auditOptions(
    route
      .command('release')
      .summary('choose the version that items are routed by')
      .description('Makes a version the one that items are routed by. Items that were routed before keep their flow.')
      .argument('<business>', businessArgument)
      .argument('<version>', 'version of its routes', version),
  )
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route release mail 2')
    .action(async (business: string, version: number, { address, json, ...audit }: Common & AuditOptions) =>
      (await import('../route/routes.ts')).releaseRoutes(business, version, audit, address, printerOf(json)),
    );
}

function rollbackCommand(route: Command): void {
  auditOptions(
    route
      .command('rollback')
      .summary('go back to the release before')
      .description('Brings back the release that was in use before the present one, or an earlier one, in one write.')
      .argument('<business>', businessArgument)
      .option('--to <release>', 'number of the release to bring back', wholeNumber(1, 2 ** 32 - 1)),
  )
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route rollback mail --comment "wrong country codes"')
    .action(async (business: string, { address, json, ...options }: Common & AuditOptions & { to?: number }) =>
      (await import('../route/routes.ts')).rollbackRoutes(business, options, address, printerOf(json)),
    );
}

function releasesCommand(route: Command): void {
  route
    .command('releases')
    .summary('list the releases of routes')
    .description('Lists the releases of the routes of a business line that are kept, the newest first: up to 100.')
    .argument('<business>', businessArgument)
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route releases mail')
    .action(async (business: string, { address, json }: Common) =>
      (await import('../route/routes.ts')).listRouteReleases(business, address, printerOf(json)),
    );
}

function listCommand(route: Command): void {
  route
    .command('list')
    .summary('list the business lines that have routes')
    .description('Lists the business lines that have routes, with the newest and released versions.')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route list')
    .action(async ({ address, json }: Common) =>
      (await import('../route/routes.ts')).listRoutes(address, printerOf(json)),
    );
}

function showCommand(route: Command): void {
  route
    .command('show')
    .summary('print a version of routes')
    .description('Prints a version of the routes of a business line as their author wrote them.')
    .argument('<business>', businessArgument)
    .option('--version <version>', 'the version; the released one by default', version)
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir route show mail --version 2 > mail.routes.yaml')
    .action(async (business: string, { address, json, version }: Common & { version?: number }) =>
      (await import('../route/routes.ts')).showRoutes(business, version, address, printerOf(json)),
    );
}
