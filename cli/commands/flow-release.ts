// Commands of `weir flow` that say which versions new runs follow, and what is different between them.

import type { Command } from 'commander';
import { addressOption, authorOption, commentOption, jsonOption, list, share, wholeNumber } from '../arguments.ts';
import type { AuditOptions, ReleaseOptions } from '../flow/release.ts';
import { printerOf } from '../output/printer.ts';

interface Common {
  readonly address: string;
  readonly json?: boolean;
}

const version = wholeNumber(1, 10_000);
const nameArgument = 'name of the flow';

export function flowReleaseCommands(flow: Command): void {
  releaseCommand(flow);
  rollbackCommand(flow);
  releasesCommand(flow);
  diffCommand(flow);
}

/** What every command has that changes what is released. */
export function auditOptions(command: Command): Command {
  return command
    .option(
      '--expect <release>',
      'number of the release you have seen, 0 for none; another one is a conflict',
      wholeNumber(0, 2 ** 32 - 1),
    )
    .addOption(authorOption())
    .addOption(commentOption());
}

function releaseCommand(flow: Command): void {
  auditOptions(
    flow
      .command('release')
      .summary('choose the version that new runs follow')
      .description(
        'Makes a version the one that new runs follow, or one that only some of them follow (a gray release): those that --share, --businesses or --keys name. Runs that have begun keep theirs.',
      )
      .argument('<name>', nameArgument)
      .argument('<version>', 'its version', version)
      .option('--share <percent>', 'for this share of the items, by a hash of their keys, as in 10%', share)
      .option('--businesses <names>', 'for all items of these business lines, separated by commas', list)
      .option('--keys <file>', 'for the items with these keys, one a line; 0x… for bytes'),
  )
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA larger share takes all items of a smaller one. A release without any of the three ends the gray one.\n\nExamples:\n  weir flow release mail-intake 2\n  weir flow release mail-intake 3 --share 10% --expect 7\n  weir flow release mail-intake 3 --keys testers.txt',
    )
    .action(async (name: string, version: number, { address, json, ...options }: Common & ReleaseOptions) =>
      (await import('../flow/release.ts')).releaseFlow(name, version, options, address, printerOf(json)),
    );
}

function rollbackCommand(flow: Command): void {
  auditOptions(
    flow
      .command('rollback')
      .summary('go back to the release before')
      .description('Brings back the release that was in use before the present one, or an earlier one, in one write.')
      .argument('<name>', nameArgument)
      .option('--to <release>', 'number of the release to bring back', wholeNumber(1, 2 ** 32 - 1)),
  )
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nAfter a rollback, another one goes back one release further.\n\nExamples:\n  weir flow rollback mail-intake --comment "too many failures"\n  weir flow rollback mail-intake --to 4',
    )
    .action(async (name: string, { address, json, ...options }: Common & AuditOptions & { to?: number }) =>
      (await import('../flow/release.ts')).rollbackFlow(name, options, address, printerOf(json)),
    );
}

function releasesCommand(flow: Command): void {
  flow
    .command('releases')
    .summary('list the releases of a flow')
    .description('Lists the releases of a flow that are kept, the newest first: up to 100.')
    .argument('<name>', nameArgument)
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir flow releases mail-intake')
    .action(async (name: string, { address, json }: Common) =>
      (await import('../flow/release.ts')).listFlowReleases(name, address, printerOf(json)),
    );
}

function diffCommand(flow: Command): void {
  flow
    .command('diff')
    .summary('compare two versions of a flow, or files')
    .description(
      'Compares two flows by what they mean: steps, fields and keys, not lines. Each is a file, NAME (the released version) or NAME@VERSION; one alone is compared with the released version of its flow. Ends with 0 when they mean the same, with 3 when they differ.',
    )
    .argument('<flow>', 'a file, NAME or NAME@VERSION; a file that could be a name is written ./name')
    .argument('[other]', 'what it is compared with')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow diff mail-intake@2 mail-intake@3\n  weir flow diff mail-intake mail-intake.flow.yaml\n  weir flow diff mail-intake.flow.yaml --json',
    )
    .action(async (one: string, other: string | undefined, { address, json }: Common) =>
      (await import('../flow/diff.ts')).diffFlows(one, other, address, printerOf(json)),
    );
}
