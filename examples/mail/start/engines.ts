// The engine as the example starts it: one process, or the roles of a small cluster.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { directoryPath } from '../modules/directory.ts';
import { engineAddress, weirPath } from './weir.ts';

export interface EngineProcess {
  readonly name: string;
  readonly commandLine: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Where it serves, if others wait for it. */
  readonly address?: string;
}

const exampleFolder = fileURLToPath(new URL('..', import.meta.url));
const clusterFile = join(exampleFolder, 'cluster.yaml');
const servicesPath = fileURLToPath(new URL('../../../scripts/services/main.ts', import.meta.url));
const secondAddress = '127.0.0.1:27110';

/** For the modules: where they register. */
export const clusterEngines = `${engineAddress},${secondAddress}`;

export function singleEngine(data: string): EngineProcess[] {
  const folders = ['--data', data, '--modules', directoryPath, '--flows', exampleFolder];
  const commandLine = [weirPath, 'up', ...folders, '--address', engineAddress];
  return [{ name: 'engine', commandLine, address: engineAddress }];
}

/** Two dispatches and two spouts. The first dispatch stores the flow, so the others come after it. */
export function clusterProcesses(data: string): EngineProcess[] {
  const role = (name: 'dispatch' | 'spout', number: number) => {
    return [weirPath, name, '--cluster', clusterFile, '--name', `${name}-${number}`];
  };
  const cache = { WEIR_CACHE: join(data, 'cache') };
  const dispatch = (number: number, address: string, more: readonly string[]): EngineProcess => ({
    name: `dispatch-${number}`,
    commandLine: [...role('dispatch', number), ...more],
    environment: { ...cache, WEIR_DISPATCH_ADDRESS: address },
    address,
  });
  return [
    dispatch(1, engineAddress, ['--flows', exampleFolder]),
    dispatch(2, secondAddress, []),
    ...[1, 2].map((number) => ({ name: `spout-${number}`, commandLine: role('spout', number), environment: cache })),
  ];
}

/** Installs and starts what a cluster stands on, and makes its table. Throws with what the commands printed when they fail. */
export async function prepareCluster(say: (line: string) => void, signal: AbortSignal): Promise<void> {
  say('Starting ZooKeeper, Redis and HBase. The first time they are downloaded: 150 MB.');
  await command([servicesPath, 'up'], signal);
  await command([weirPath, 'store', 'init', '--hbase', '127.0.0.1:27231', '--table', 'weir-mails'], signal);
}

async function command(commandLine: readonly string[], signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [...commandLine], { signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const [, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new Error(`${commandLine.slice(1).join(' ')}: ${errors.trim() || `ended with code ${code}`}`);
}
