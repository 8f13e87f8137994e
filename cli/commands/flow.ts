import type { Command } from 'commander';
import { addressOption, authorOption, commentOption, jsonOption, wholeNumber } from '../arguments.ts';
import type { PushOptions } from '../flow/flows.ts';
import { printerOf } from '../output/printer.ts';
import { flowReleaseCommands } from './flow-release.ts';
import { flowTextCommands } from './flow-text.ts';

interface Common {
  readonly address: string;
  readonly json?: boolean;
}

const version = wholeNumber(1, 10_000);

export function flowCommand(parent: Command): Command {
  const flow = parent.command('flow').summary('check, store, release and show flows').description('Works with flows.');
  validateCommand(flow);
  flowTextCommands(flow);
  pushCommand(flow);
  listCommand(flow);
  showCommand(flow);
  flowReleaseCommands(flow);
  return flow;
}

function validateCommand(flow: Command): void {
  flow
    .command('validate')
    .summary('check files of flows, without an engine')
    .description(
      'Checks files of flows and prints every problem as FILE:LINE:COLUMN. Needs no engine. Ends with 2 when there is a problem.',
    )
    .argument('<file...>', 'files of flows, YAML or JSON')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow validate mail-intake.flow.yaml\n  weir flow validate flows/*.yaml --json',
    )
    .action(async (files: string[], { json }: Common) =>
      (await import('../flow/flows.ts')).validateFlows(files, printerOf(json)),
    );
}

function pushCommand(flow: Command): void {
  flow
    .command('push')
    .summary('store a flow as its next version')
    .description('Stores a flow as its next version. Content that is there already keeps its version.')
    .argument('<file>', 'the file of a flow, YAML or JSON')
    .option('--release', 'make it the version that new runs follow')
    .option(
      '--expect <version>',
      'the newest version you have seen, 0 for none; another one is a conflict',
      wholeNumber(0, 10_000),
    )
    .addOption(authorOption())
    .addOption(commentOption())
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow push mail-intake.flow.yaml --release\n  weir flow push mail-intake.flow.yaml --expect 3',
    )
    .action(async (file: string, { address, json, ...options }: Common & PushOptions) =>
      (await import('../flow/flows.ts')).pushFlow(file, options, address, printerOf(json)),
    );
}

function listCommand(flow: Command): void {
  flow
    .command('list')
    .summary('list all flows')
    .description('Lists all flows with their newest and released versions.')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir flow list')
    .action(async ({ address, json }: Common) =>
      (await import('../flow/flows.ts')).listFlows(address, printerOf(json)),
    );
}

function showCommand(flow: Command): void {
  flow
    .command('show')
    .summary('print a version of a flow')
    .description('Prints a version of a flow as its author wrote it.')
    .argument('<name>', 'name of the flow')
    .option('--version <version>', 'its version; the released one by default', version)
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow show mail-intake\n  weir flow show mail-intake --version 2 > mail-intake.flow.yaml',
    )
    .action(async (name: string, { address, json, version }: Common & { version?: number }) =>
      (await import('../flow/flows.ts')).showFlow(name, version, address, printerOf(json)),
    );
}
