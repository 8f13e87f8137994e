// `weir run signal` and `complete`.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { ReturnCode } from '../../proto/gen/weir/module/v1/module_pb.js';
import { addressOption, jsonOption } from '../arguments.ts';
import { printerOf } from '../output/printer.ts';
import type { CompleteOptions, SaidFields } from '../run/say.ts';
import { parseRun, type RunArgument } from '../run-argument.ts';
import { askedHelp, type Common, runHelp } from './run-common.ts';

const codes = Object.keys(ReturnCode).filter((name) => /^[A-Z]/.test(name));

export function sayCommands(run: Command): void {
  run
    .command('signal')
    .summary('say something to a run that waits for it')
    .description('Gives a signal to a run. One that comes before a step waits for it is kept; the last one counts.')
    .argument('<run>', runHelp, parseRun)
    .argument('<signal>', 'the name that a step of its flow waits for')
    .addOption(fieldOption())
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${askedHelp}\n\nExample:\n  weir run signal news/review/article-7 approved --field reviewer=ann`,
    )
    .action(async (name: RunArgument, signal: string, { address, json, field }: Common & SaidFields) =>
      (await import('../run/say.ts')).signalRun(name, signal, { field }, address, printerOf(json)),
    );
  run
    .command('complete')
    .summary('give the later answer of a callback')
    .description('Gives the answer that a callback step waits for.')
    .argument('<token>', "the call key of the request that was taken on; 'weir run get' shows it")
    .addOption(
      new Option('--code <code>', `how the work went: ${codes.join(', ')}`).default('SUCC').argParser((text) => {
        const found = codes.find((code) => code === text.toUpperCase());
        if (found !== undefined) return found;
        throw new InvalidArgumentError(`Allowed are ${codes.join(', ')}.`);
      }),
    )
    .option('--message <text>', 'for who looks at the run', '')
    .addOption(fieldOption())
    .addOption(addressOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${askedHelp}\n\nExample:\n  weir run complete 1/news/review/article-7/check/1 --field verdict=fine`,
    )
    .action(async (token: string, { address, json, ...options }: Common & CompleteOptions) =>
      (await import('../run/say.ts')).completeCall(token, options, address, printerOf(json)),
    );
}

function fieldOption(): Option {
  return new Option('--field <name=value>', 'a field that goes with it, as text; may be given again')
    .default(new Map(), 'none')
    .argParser((text: string, before: ReadonlyMap<string, string>) => {
      const sign = text.indexOf('=');
      const name = text.slice(0, sign);
      if (sign < 1) throw new InvalidArgumentError('Allowed is NAME=VALUE.');
      if (before.has(name)) throw new InvalidArgumentError(`The field ${name} is there twice.`);
      return new Map([...before, [name, text.slice(sign + 1)]]);
    });
}
