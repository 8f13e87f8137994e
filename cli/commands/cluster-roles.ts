import type { Command } from 'commander';
import { jsonOption } from '../arguments.ts';
import type { ClusterRunOptions } from '../cluster/run.ts';
import { callbackHostsOption, nameOption } from './up.ts';

export function dispatchCommand(parent: Command): Command {
  return parent
    .command('dispatch')
    .summary('run a dispatch of a cluster')
    .description('Runs a dispatch: takes items in, holds runs, calls modules. As many as you like share the work.')
    .requiredOption('--cluster <file>', 'the cluster file')
    .addOption(nameOption('of this process, the same over restarts; the host and process id when not given'))
    .option('--flows <path>', 'a flow, or a folder with *.flow.yaml, to store and release')
    .addOption(callbackHostsOption())
    .addOption(jsonOption())
    .action(async (options: ClusterRunOptions) =>
      (await import('../cluster/run.ts')).runInCluster(['dispatch'], options),
    );
}

export function spoutCommand(parent: Command): Command {
  return parent
    .command('spout')
    .summary('run a spout of a cluster')
    .description(
      'Runs a spout: finds runs that need attention in its shards, and offers them. Spouts share the shards.',
    )
    .requiredOption('--cluster <file>', 'the cluster file')
    .addOption(nameOption('of this process, the same over restarts; the host and process id when not given'))
    .addOption(jsonOption())
    .action(async (options: ClusterRunOptions) => (await import('../cluster/run.ts')).runInCluster(['spout'], options));
}
