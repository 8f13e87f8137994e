import { type Command, Option } from 'commander';
import type { State } from '../../proto/gen/weir/run/v1/run_pb.js';
import { addressOption, jsonOption, list, oneOf, wholeNumber } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';
import type { ListOptions } from '../run/list.ts';
import type { SummaryOptions } from '../run/summary.ts';
import { parseRun, type RunArgument } from '../run-argument.ts';
import { actCommands } from './run-act.ts';
import { type Common, runHelp } from './run-common.ts';
import { sayCommands } from './run-say.ts';

const states = ['OPEN', 'PARKED', 'ENDING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const satisfies ReadonlyArray<
  keyof typeof State
>;
export function runCommand(parent: Command): Command {
  const run = parent.command('run').summary('look at runs and act on them').description('Works with runs.');
  getCommand(run);
  listCommand(run);
  summaryCommand(run);
  actCommands(run);
  sayCommands(run);
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
    .option('--parent <run>', 'runs that the steps of this one started', parseRun)
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
      '\nExamples:\n  weir run list --flow mail-intake --state FAILED,PARKED\n  weir run list --flow mail-intake --fields label,verdict --all --json\n  weir run list --parent mail/mail-intake/spam-1/00001',
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
