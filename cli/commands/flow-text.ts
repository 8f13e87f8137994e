// Commands of `weir flow` that work on texts alone, without an engine.

import { type Command, Option } from 'commander';
import { jsonOption } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';

const flowArgument = 'the file of a flow, YAML or JSON';
const formats = ['pipeline'] as const;

export function flowTextCommands(flow: Command): void {
  simulateCommand(flow);
  drawCommand(flow);
  importCommand(flow);
  exportCommand(flow);
}

function simulateCommand(flow: Command): void {
  flow
    .command('simulate')
    .summary('run a flow by a script of answers, without an engine')
    .description(
      'Runs a flow in virtual time: modules answer as a script says, and every decision of the engine is printed. Ends with 0 when the run succeeds, with 1 when it does not, with 2 when the flow or the script has a problem.',
    )
    .argument('<file>', flowArgument)
    .requiredOption('--script <file>', 'what the item brings, what modules answer, what happens meanwhile')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow simulate mail-intake.flow.yaml --script spam.script.yaml\n  weir flow simulate mail-intake.flow.yaml --script spam.script.yaml --json',
    )
    .action(async (file: string, { script, json }: { script: string; json?: boolean }) =>
      (await import('../flow/simulate.ts')).simulateFlow(file, script, printerOf(json)),
    );
}

function drawCommand(flow: Command): void {
  const directions = ['TB', 'BT', 'LR', 'RL'] as const;
  flow
    .command('draw')
    .summary('print a flow as a Mermaid flowchart')
    .description('Prints a flow as a Mermaid flowchart, which Markdown pages and many tools show as a picture.')
    .argument('<file>', flowArgument)
    .addOption(
      new Option('--direction <direction>', 'top to bottom, bottom to top, left to right, right to left')
        .choices(directions)
        .default('TB'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  weir flow draw mail-intake.flow.yaml\n  weir flow draw mail-intake.flow.yaml --direction LR > mail-intake.mmd',
    )
    .action(async (file: string, { direction }: { direction: (typeof directions)[number] }) =>
      (await import('../flow/draw.ts')).drawFlow(file, direction, printerOf()),
    );
}

function importCommand(flow: Command): void {
  flow
    .command('import')
    .summary('print a definition of another system as a flow')
    .description(
      'Reads a definition of another system and prints it as a flow. What a flow has no words for is refused.',
    )
    .argument('<file>', 'the file of the definition')
    .addOption(formatOption())
    .requiredOption('--business <name>', 'the business line of the flow')
    .option('--name <name>', 'the name of the flow; made from that of the definition by default')
    .addHelpText(
      'after',
      '\nExample:\n  weir flow import --format pipeline advertisement.json --business video > advertisement.flow.yaml',
    )
    .action(async (file: string, options: { business: string; name?: string }) =>
      (await import('../flow/exchange.ts')).importFlow(file, options, printerOf()),
    );
}

function exportCommand(flow: Command): void {
  flow
    .command('export')
    .summary('print a flow as a definition of another system')
    .description('Prints a flow as a definition of another system. What that has no words for is refused, by step.')
    .argument('<file>', flowArgument)
    .addOption(formatOption())
    .addHelpText(
      'after',
      '\nExample:\n  weir flow export --format pipeline advertisement.flow.yaml > advertisement.json',
    )
    .action(async (file: string) => (await import('../flow/exchange.ts')).exportFlow(file, printerOf()));
}

function formatOption(): Option {
  return new Option('--format <format>', 'pipeline: JSON of tasks and dependencies')
    .choices(formats)
    .makeOptionMandatory();
}
