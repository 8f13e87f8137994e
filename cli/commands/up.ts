import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CallbackHosts, readCallbackHosts } from '../../dispatch/modules/callback-hosts.ts';
import { dispatchDefaults } from '../../dispatch/settings.ts';
import { address, defaultAddress, jsonOption, wholeNumber } from '../arguments.ts';
import type { ClusterRunOptions } from '../cluster/run.ts';
import { isPlainName, plainNameRule } from '../plain-name.ts';
import type { UpOptions } from '../up/up.ts';

const help = `
Every flow and every module is checked first; when one is wrong, nothing is started and the command ends with 2. The flows of
--flows are then stored as new versions and released. One that is there already with the same content is left alone: a restart
doesn't undo a rollback.

The first SIGTERM or Ctrl-C stops: nothing more is taken in, calls that are out are waited for (20 s at most), and what is open
goes on at the next start. A second one ends at once, which loses nothing either.

Examples:
  weir up --modules modules.yaml --flows flows/
  weir up --data /var/lib/weir --address 0.0.0.0:27100 --modules modules.yaml

A file of modules:
  modules:
    mail.parse: { endpoints: ['127.0.0.1:27101'], concurrency: 32 }`;

export function upCommand(parent: Command): Command {
  return parent
    .command('up')
    .summary('run the engine')
    .description('Runs the whole engine in this process, until it is told to stop.')
    .addOption(
      new Option('--cluster <file>', 'run a spout and a dispatch of a cluster, by its file').conflicts([
        'data',
        'address',
        'modules',
        'maxRuns',
        'lockTtlMs',
      ]),
    )
    .addOption(nameOption('with --cluster: of this process, the same over restarts'))
    .option('--data <folder>', 'where everything is stored; one engine at a time', './weir-data')
    .option('--address <host:port>', 'where to listen; port 0 takes a free one', address(0), defaultAddress)
    .option('--modules <file>', 'which module is served where, YAML or JSON')
    .addOption(callbackHostsOption())
    .option('--flows <path>', 'a flow, or a folder with *.flow.yaml, to store and release')
    .addOption(
      new Option('--max-runs <n>', 'runs held at once: what a crash interrupts at most')
        .env('WEIR_MAX_RUNS')
        .default(dispatchDefaults.maxRuns)
        .argParser(wholeNumber(1, 100_000)),
    )
    .addOption(
      // Nobody needs it who runs one process: what the tests that pause processes wait for is counted in it.
      new Option('--lock-ttl-ms <n>', 'time to live of a run lock')
        .env('WEIR_LOCK_TTL_MS')
        .default(dispatchDefaults.lockTtlMs)
        .argParser(wholeNumber(100, 3_600_000))
        .hideHelp(),
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: UpOptions & Partial<ClusterRunOptions>) => {
      const { cluster } = options;
      if (cluster === undefined) return (await import('../up/up.ts')).up(options);
      return (await import('../cluster/run.ts')).runInCluster(['spout', 'dispatch'], { ...options, cluster });
    });
}

/** It names a folder too. */
export function nameOption(description: string): Option {
  return new Option('--name <name>', description).argParser((text) => {
    if (isPlainName(text)) return text;
    throw new InvalidArgumentError(`Allowed are ${plainNameRule}, a letter or digit first.`);
  });
}

export function callbackHostsOption(): Option {
  return new Option(
    '--callback-hosts <hosts>',
    'hosts that flows may call by address (http, https), as host or host:port, separated by commas; none by default. ' +
      'Names must be at public addresses, unless the address is listed too',
  ).argParser(callbackHosts);
}

function callbackHosts(text: string): CallbackHosts {
  const reading = readCallbackHosts(text);
  if (reading.ok) return reading.hosts;
  throw new InvalidArgumentError(`${reading.problem}.`);
}
