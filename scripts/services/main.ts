// npm run services -- up|down|status|install [zookeeper redis hbase]

import { relative } from 'node:path';
import { sharedPlace } from './catalogue.ts';
import { type CommandLine, readCommandLine, usage } from './command-line.ts';
import { type ExitCode, exitCodes, ServiceFailure } from './failure.ts';
import { bringDown, bringUp, findStatus, installServices, type ServiceStatus } from './operations.ts';
import { commandOwner } from './owner.ts';

const say = (line: string) => console.log(line);

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<ExitCode> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage);
    return exitCodes.ok;
  }
  try {
    return await run(readCommandLine(args));
  } catch (error) {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const each of errors) console.error(each instanceof ServiceFailure ? `services: ${each.message}` : each);
    return errors.find((each) => each instanceof ServiceFailure)?.exitCode ?? exitCodes.failed;
  }
}

async function run({ verb, names }: CommandLine): Promise<ExitCode> {
  if (verb !== 'install' && process.platform !== 'linux') {
    throw new ServiceFailure('this runs on Linux; elsewhere: docker compose up --wait (compose.yaml)');
  }
  switch (verb) {
    case 'up':
      await bringUp(names, commandOwner, sharedPlace, say);
      return exitCodes.ok;
    case 'down':
      await bringDown(names, sharedPlace, say);
      return exitCodes.ok;
    case 'install':
      await installServices(names, sharedPlace, say);
      return exitCodes.ok;
    case 'status': {
      const all = await Promise.all(names.map((name) => findStatus(name, sharedPlace)));
      for (const status of all) console.log(statusLine(status));
      return all.every((status) => status.state === 'answering') ? exitCodes.ok : exitCodes.notAnswering;
    }
  }
}

function statusLine({ name, state, detail, pid, address, version, folder }: ServiceStatus): string {
  const parts = [
    name.padEnd(9),
    state.padEnd(13),
    address,
    pid === undefined ? undefined : `pid ${pid}`,
    version && `version ${version}`,
    folder && relative(process.cwd(), folder),
  ].filter((part) => part !== undefined);
  return `${parts.join('  ')}${detail === undefined ? '' : `  (${detail})`}`.trimEnd();
}
