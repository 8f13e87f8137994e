import type { Command } from 'commander';
import { addressOption, jsonOption } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';

const help = `
Each line is one item:

  {"business":"mail","flow":"mail-intake","key":"spam-1/00001","fields":{"label":"spam","raw":{"base64":"RnJvbTog…"}}}

The key and the values of fields are texts, or bytes as {"base64":"…"}. Optional are "flow" (without one the routes of the business
line choose, see 'weir route'), "level", 1 (first) to 9, 5 by default, and "expectedGeneration", the newest generation of an item
that is to run again.

A file is read through first: when a line of it is wrong, nothing is submitted. What only the engine can refuse (an unknown flow,
an item that is there with other fields), and any line of standard input, is refused by itself: the others are submitted, and
durable when they are counted as accepted. Refused lines are counted and the first 20 told, and the command ends with 2. An item that is there already with the same content counts as
accepted: the same input can be submitted again.

Examples:
  weir submit items.ndjson
  make-items | weir submit - --json`;

export function submitCommand(parent: Command): Command {
  return parent
    .command('submit')
    .summary('submit items from a file or standard input')
    .description('Submits items, one JSON object a line, and waits until all are durable.')
    .argument('<file>', 'a file of lines, or - for standard input')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (file: string, { address, json }: { address: string; json?: boolean }) =>
      (await import('../submit/submit.ts')).submit(file, address, printerOf(json)),
    );
}
