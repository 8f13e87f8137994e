// `weir run retry`, `rewind`, `cancel` and `release`.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { addressOption, jsonOption, wholeNumber } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';
import type { ReopenOptions } from '../run/act.ts';
import { parseRun, type RunArgument } from '../run-argument.ts';
import { askedHelp, type Common, runHelp } from './run-common.ts';

export function actCommands(run: Command): void {
  retryCommand(run);
  rewindCommand(run);
  cancelCommand(run);
  releaseCommand(run);
}

function retryCommand(run: Command): void {
  reopenOptions(
    run
      .command('retry')
      .summary('run the failed steps of a run again')
      .description('Runs the failed steps of a run that FAILED or was CANCELLED again, and what follows them.')
      .argument('<run>', runHelp, parseRun),
  )
    .addHelpText(
      'after',
      `${askedHelp}\n\nExamples:\n  weir run retry mail/mail-intake/spam-1/00001\n  weir run retry mail/mail-intake/spam-1/00001 --version released`,
    )
    .action(async (name: RunArgument, { address, json, ...options }: Common & ReopenOptions) =>
      (await import('../run/act.ts')).retryRun(name, options, address, printerOf(json)),
    );
}

function rewindCommand(run: Command): void {
  reopenOptions(
    run
      .command('rewind')
      .summary('go back to a step of a run')
      .description(
        'Runs a step of a run that FAILED or was CANCELLED again, whether or not it was done, and all that follows it.',
      )
      .argument('<run>', runHelp, parseRun)
      .argument('<step>', 'a step of the flow version that the run is on'),
  )
    .addHelpText('after', `${askedHelp}\n\nExample:\n  weir run rewind mail/mail-intake/spam-1/00001 score`)
    .action(async (name: RunArgument, step: string, { address, json, ...options }: Common & ReopenOptions) =>
      (await import('../run/act.ts')).rewindRun(name, step, options, address, printerOf(json)),
    );
}

function reopenOptions(command: Command): Command {
  return command
    .option('--outcome <number>', 'the outcome you have seen; another one is a conflict', wholeNumber(1, 2 ** 32 - 1))
    .addOption(
      new Option('--version <version>', 'the flow version to go on with: keep, released, or a number')
        .default('keep')
        .argParser(version),
    )
    .addOption(addressOption())
    .addOption(jsonOption());
}

function version(text: string): ReopenOptions['version'] {
  if (text === 'keep' || text === 'released') return text;
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Allowed are keep, released, and the number of a version.');
}

function cancelCommand(run: Command): void {
  run
    .command('cancel')
    .summary('end a run')
    .description('Ends a run that is OPEN or PARKED, and the runs that its steps wait for.')
    .argument('<run>', runHelp, parseRun)
    .option('--cause <text>', 'why, for who looks at the run', '')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${askedHelp}\n\nExample:\n  weir run cancel mail/mail-intake/spam-1/00001 --cause 'sent twice'`,
    )
    .action(async (name: RunArgument, { address, json, cause }: Common & { cause: string }) =>
      (await import('../run/act.ts')).cancelRun(name, cause, address, printerOf(json)),
    );
}

function releaseCommand(run: Command): void {
  run
    .command('release')
    .summary('let a parked run go on')
    .description('Lets a run that is PARKED go on: the calls that were lost are made again.')
    .argument('<run>', runHelp, parseRun)
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', `${askedHelp}\n\nExample:\n  weir run release mail/mail-intake/spam-1/00001`)
    .action(async (name: RunArgument, { address, json }: Common) =>
      (await import('../run/act.ts')).releaseRun(name, address, printerOf(json)),
    );
}
