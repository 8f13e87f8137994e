// Starts the hostile module in its own process, and starts it again when it ends, as a supervisor would.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../dispatch/modules/free-port.ts';

export interface HostileModule {
  /** `IP:port` */
  readonly address: string;
  /** How often the process has been started. */
  starts(): number;
  /** Ends the process at once, as a crash would. It is started again. */
  kill(): void;
  stop(): Promise<void>;
}

/** Restarts of one module, so that a module that can't start doesn't spin. */
const maxStarts = 50;

/** Resolves when the module listens. `port`: below 32768; default a free one. */
export async function startHostileModule({ port }: { port?: number } = {}): Promise<HostileModule> {
  const address = `127.0.0.1:${port ?? (await freePort())}`;
  let starts = 0;
  let stopped = false;
  let child: ChildProcess;
  const launch = async (): Promise<void> => {
    starts++;
    child = spawn(process.execPath, [fileURLToPath(new URL('module.ts', import.meta.url)), address], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const launched = child;
    launched.once('exit', () => {
      if (!stopped && starts < maxStarts) void launch();
    });
    if (launched.stdout) await once(launched.stdout, 'data');
  };
  await launch();
  return {
    address,
    starts: () => starts,
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      stopped = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
