// The roles as an operator starts them, each in a process of its own, and the module beside them.
//
// Owns the processes: they are gone after `stop`, and when this process exits.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, connect } from '../platform/rpc/client.ts';
import { Runs } from '../proto/gen/weir/runs/v1/runs_pb.js';
import { type ClusterServices, firstDispatchPort } from './cluster-services.ts';
import { flowText } from './engine.ts';
import { type MeasuredProcess, start } from './measured-process.ts';

const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
/** Of the module, all in one process. */
const endpoints = 4;

export interface ClusterProcesses {
  /** Process ids by role. */
  readonly pids: {
    readonly dispatch: readonly number[];
    readonly spout: readonly number[];
    readonly module: readonly number[];
  };
  /** One client for each dispatch. */
  readonly runs: ReadonlyArray<Client<typeof Runs>>;
  /** Calls of the last step since the start. */
  lastCalls(this: void): Promise<number>;
  stop(): Promise<void>;
}

/** Starts one spout, so many dispatches and the module on a table that is there. Resolves when all are ready. */
export async function startProcesses(
  services: ClusterServices,
  table: string,
  dispatches: number,
): Promise<ClusterProcesses> {
  const opened = new AsyncDisposableStack();
  try {
    const module = await start('bench/echo-module.ts', '0', String(endpoints));
    opened.defer(() => module.stop());
    const folder = mkdtempSync(join(services.folder, 'roles-'));
    const flows = join(folder, 'flows');
    mkdirSync(flows);
    writeFileSync(join(flows, 'three-steps.flow.yaml'), flowText);
    const file = join(folder, 'cluster.yaml');
    writeFileSync(file, clusterText(services, { table, folder, module }));
    const weir = async (role: 'dispatch' | 'spout', name: string, more: readonly string[], port = 0) => {
      const address = `127.0.0.1:${port}`;
      const child = startWeir([role, '--json', '--cluster', file, '--name', name, ...more], {
        [`WEIR_${role.toUpperCase()}_ADDRESS`]: address,
      });
      opened.defer(() => stopWeir(child));
      await ready(child, name);
      return { pid: child.pid ?? 0, address };
    };
    const dispatch: Array<{ readonly pid: number; readonly address: string }> = [];
    // One after the other: the first one stores the flow.
    for (let number = 1; number <= dispatches; number++) {
      dispatch.push(await weir('dispatch', `dispatch-${number}`, ['--flows', flows], firstDispatchPort + number - 1));
    }
    const spout = await weir('spout', 'spout-1', []);
    const runs = dispatch.map(({ address }) => connect(Runs, address));
    opened.defer(() => {
      for (const each of runs) each.close();
    });
    return {
      pids: { dispatch: dispatch.map(({ pid }) => pid), spout: [spout.pid], module: [module.child.pid ?? 0] },
      runs,
      lastCalls: () => askLastCalls(module),
      stop: () => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** JSON is YAML. */
function clusterText(
  { zookeeper, redis, hbase }: ClusterServices,
  { table, folder, module }: { readonly table: string; readonly folder: string; readonly module: MeasuredProcess },
): string {
  const { addresses } = module.greeting as { addresses: readonly string[] };
  return JSON.stringify({
    cache: join(folder, 'cache'),
    zookeeper: { servers: [zookeeper.address], root: `/${table}` },
    redis: { servers: [redis.address] },
    hbase: { servers: [hbase.address], table },
    modules: { echo: { endpoints: addresses, concurrency: 128 } },
  });
}

function startWeir(commandLine: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  // Flags of this process, such as those of a profiler, go on to it.
  const child = spawn(process.execPath, [...process.execArgv, program, ...commandLine], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** Its first line says that it is ready. */
async function ready(child: ChildProcess, name: string): Promise<void> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${name} ended with ${String(code ?? signal)} before it was ready`);
  });
  if (child.stdout) await Promise.race([once(child.stdout, 'data'), ended]);
  child.stdout?.resume();
  // Its end is expected from now on.
  ended.catch(() => {});
}

async function stopWeir(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function askLastCalls({ child }: MeasuredProcess): Promise<number> {
  const answered = once(child, 'message');
  child.send('how many?');
  const [{ lastCalls }] = (await answered) as [{ lastCalls: number }];
  return lastCalls;
}
