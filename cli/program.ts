// The tree of commands. What a command does is loaded when it is called, so that help and mistakes are answered at once.

import { Command } from 'commander';
import { alarmCommand } from './commands/alarm.ts';
import { businessCommand } from './commands/business.ts';
import { dispatchCommand, spoutCommand } from './commands/cluster-roles.ts';
import { flowCommand } from './commands/flow.ts';
import { moduleCommand } from './commands/module.ts';
import { routeCommand } from './commands/route.ts';
import { runCommand } from './commands/run.ts';
import { storeCommand } from './commands/store.ts';
import { submitCommand } from './commands/submit.ts';
import { upCommand } from './commands/up.ts';

const help = `
Exit codes: 0 done; 1 failed: no engine answers, no such run, refused; 2 wrong flags, files or configuration; 3 compared and
different; 130 interrupted.

Start with:
  weir up --modules modules.yaml --flows flows/
  weir submit items.ndjson
  weir run summary`;

/** All commands. Parsing throws CommanderErrors instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('weir')
    .description('Regulates the flow of work: items go through flows of modules, and none is lost.')
    .addHelpText('after', help)
    // Inherited by the commands below.
    .exitOverride();
  upCommand(program);
  dispatchCommand(program);
  spoutCommand(program);
  submitCommand(program);
  flowCommand(program);
  routeCommand(program);
  businessCommand(program);
  runCommand(program);
  alarmCommand(program);
  moduleCommand(program);
  storeCommand(program);
  return program;
}
