import type { Command } from 'commander';
import type { AlarmListOptions } from '../alarm/list.ts';
import { addressOption, jsonOption, wholeNumber } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';

export function alarmCommand(parent: Command): Command {
  const alarm = parent.command('alarm').summary('see what a person should know').description('Works with alarms.');
  alarm
    .command('list')
    .summary('list alarms')
    .description('Lists alarms, the newest first. What repeats is one alarm with a count.')
    .option('--limit <number>', 'how many at most', wholeNumber(1, 1_000_000), 100)
    .option('--all', 'all of them')
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  weir alarm list --limit 10')
    .action(async ({ address, json, ...options }: AlarmListOptions & { address: string; json?: boolean }) =>
      (await import('../alarm/list.ts')).listAlarms(options, address, printerOf(json)),
    );
  return alarm;
}
