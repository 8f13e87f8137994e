import { type Command, Option } from 'commander';
import type { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { addressOption, jsonOption, list, oneOf, wholeNumber } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';
import type { ListOptions } from '../run/list.ts';
import type { SummaryOptions } from '../run/summary.ts';
import { parseRun, type RunArgument } from '../run-argument.ts';

interface Common {
  readonly address: string;
  readonly json?: boolean;
}

const states = ['OPEN', 'PARKED', 'ENDING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies ReadonlyArray<
  keyof typeof State
>;
const runHelp = 'BUSINESS/FLOW/KEY, and #GENERATION unless the newest is meant';

export function runCommand(parent: Command): Command {
  const run = parent.command('run').summary('look at runs and act on them').description('Works with runs.');
  getCommand(run);
  listCommand(run);
  summaryCommand(run);
  retryCommand(run);
  cancelCommand(run);
  releaseCommand(run);
  return run;
}

function getCommand(run: Command): void {
  run
    .command('get')
    .summary('show one run')
    .description('Shows one run with its steps.')
    .argument('<run>', runHelp, parseRun)
    .option('--fields', 'its fields too')
    .option('--calls', 'every call of its steps too')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA key that is not printable is written in hexadecimal, 0x00ff.\n\nExamples:\n  weir run get mail/mail-intake/spam-1/00001 --calls\n  weir run get mail/mail-intake/0x00ff#2 --fields --json',
    )
    .action(async (name: RunArgument, { address, json, ...parts }: Common & { fields?: boolean; calls?: boolean }) =>
      (await import('../run/get.ts')).getRun(name, parts, address, printerOf(json)),
    );
}

function filterOptions(command: Command): Command {
  return command
    .option('--business <name>', 'runs of one business line')
    .option('--flow <name>', 'runs of one flow')
    .addOption(
      new Option('--state <states>', `runs in these states: ${states.join(', ')}; separated by commas`).argParser(
        oneOf(states),
      ),
    );
}

function listCommand(run: Command): void {
  filterOptions(run.command('list'))
    .summary('list runs')
    .description('Lists runs in the order in which they were created.')
    .option('--fields <names>', 'fields to show with each run, separated by commas', list)
    .option('--limit <number>', 'how many at most', wholeNumber(1, 1_000_000), 100)
    .option('--all', 'all of them')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir run list --flow mail-intake --state FAILED,PARKED\n  weir run list --flow mail-intake --fields label,verdict --all --json',
    )
    .action(async ({ address, json, ...options }: Common & ListOptions) =>
      (await import('../run/list.ts')).listRuns(options, address, printerOf(json)),
    );
}

function summaryCommand(run: Command): void {
  filterOptions(run.command('summary'))
    .summary('count runs, calls and times')
    .description('Counts runs by state and, for one flow, the calls of each step with their times.')
    .option('--no-steps', 'runs only: cheap enough to be asked every second')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe steps are shown when --flow names one. They cost a read of every call of its runs.\n\nExamples:\n  weir run summary --flow mail-intake\n  weir run summary --no-steps --json',
    )
    .action(async ({ address, json, ...options }: Common & SummaryOptions) =>
      (await import('../run/summary.ts')).summarizeRuns(options, address, printerOf(json)),
    );
}

const actHelp = '\nThe answer says that the request is stored; the run follows it a moment later.';

function retryCommand(run: Command): void {
  run
    .command('retry')
    .summary('run the failed steps of a run again')
    .description('Runs the failed steps of a run that FAILED or was CANCELLED again, and what follows them.')
    .argument('<run>', runHelp, parseRun)
    .option('--outcome <number>', 'the outcome you have seen; another one is a conflict', wholeNumber(1, 2 ** 32 - 1))
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', `${actHelp}\n\nExample:\n  weir run retry mail/mail-intake/spam-1/00001`)
    .action(async (name: RunArgument, { address, json, outcome }: Common & { outcome?: number }) =>
      (await import('../run/act.ts')).retryRun(name, outcome, address, printerOf(json)),
    );
}

function cancelCommand(run: Command): void {
  run
    .command('cancel')
    .summary('end a run')
    .description('Ends a run that is OPEN or PARKED.')
    .argument('<run>', runHelp, parseRun)
    .option('--cause <text>', 'why, for who looks at the run', '')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${actHelp}\n\nExample:\n  weir run cancel mail/mail-intake/spam-1/00001 --cause 'sent twice'`,
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
    .addHelpText('after', `${actHelp}\n\nExample:\n  weir run release mail/mail-intake/spam-1/00001`)
    .action(async (name: RunArgument, { address, json }: Common) =>
      (await import('../run/act.ts')).releaseRun(name, address, printerOf(json)),
    );
}
