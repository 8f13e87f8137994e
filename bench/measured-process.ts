// Child processes whose CPU and memory are read from /proc (Linux).

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** Of /proc/<pid>/stat, fixed by the kernel's interface. */
const ticksPerSecond = 100;

export interface MeasuredProcess {
  readonly child: ChildProcess;
  /** First message of the child. */
  readonly greeting: unknown;
  /** User and system time since the start of the process. */
  cpuSeconds(): number;
  peakRssBytes(): number;
  stop(): Promise<void>;
}

/** Starts a script of this repository and waits for its first message. */
export async function start(script: string, ...args: string[]): Promise<MeasuredProcess> {
  const child = fork(join(root, script), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const [greeting] = (await Promise.race([once(child, 'message'), exited.then(failed(script))])) as [unknown];
  return {
    child,
    greeting,
    cpuSeconds: () => cpuSeconds(child.pid ?? 0),
    peakRssBytes: () => peakRssBytes(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function failed(script: string): (exit: unknown[]) => never {
  return ([code, signal]) => {
    throw new Error(`${script} ended with ${String(code ?? signal)} before it was ready`);
  };
}

/** User and system time of a process since its start. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command name in parentheses may contain blanks; user and system time are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The most that a process ever had in memory. */
export function peakRssBytes(pid: number): number {
  const match = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) * 1_024;
}
