// Starts one server as a process of its own and waits until it truly answers. The same code serves the shared services
// and the servers that a test starts for itself.
//
// 1. A folder has at most one server; who starts or stops the shared ones holds the folder's lock (operations.ts).
// 2. A server listens on 127.0.0.1 only, leads its own process group, and carries its marks (process-table.ts).
// 3. Stopping is SIGKILL: ZooKeeper and HBase keep what they acknowledged, Redis keeps nothing here in any case; it is
//    quick, and works on a frozen server too.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceFailure } from './failure.ts';
import {
  describeListener,
  listenerOn,
  marksAsEnvironment,
  type RunningServer,
  runningServer,
  type ServerMarks,
  serverIn,
  startTicks,
} from './process-table.ts';

/** A program to run. */
export interface Command {
  readonly program: string;
  readonly arguments: readonly string[];
  /** What to do when the program is missing, for the message: `Debian: apt-get install …`. */
  readonly remedy: string;
  /** Besides PATH and HOME, which the server inherits. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One server: what to run, where, and how to tell that it answers. */
export interface Server {
  /** For messages: `Redis`. */
  readonly label: string;
  /** Where clients connect, `127.0.0.1:port`. */
  readonly address: string;
  /** The server's working directory: configuration, data and log. Absolute. */
  readonly folder: string;
  readonly ports: readonly number[];
  /** How long a start may take, in milliseconds, before it counts as stuck and is tried again. */
  readonly readyWithinMs: number;
  /** Writes the configuration into the folder, which exists. */
  prepare(): Command;
  /** Asks the server something that only a working one answers. Returns what is wrong, or undefined. Takes seconds at most. */
  findFault(): Promise<string | undefined>;
}

const maxStarts = 3;
const pollMs = 100;
const goneWithinMs = 10_000;
const portsFreeWithinMs = 2000;
const maxLogBytes = 16 * 1024 * 1024;
const shownLogLines = 15;
const shownLogBytes = 8192;
const setpriv = '/usr/bin/setpriv';

/** Where a server writes what it has to say. */
export function logOf(server: Server): string {
  return join(server.folder, 'server.log');
}

/**
 * Returns the server's process once it answers: the running one, or one started here. A start that is stuck is killed and
 * tried again, 3 starts at most. Throws ServiceFailure when none answers, or when others use the ports.
 */
export async function ensureAnswering(server: Server, marks: Omit<ServerMarks, 'folder'>): Promise<RunningServer> {
  let fault = '';
  for (let start = 0; start < maxStarts; start += 1) {
    const running = serverIn(server.folder) ?? (await launch(server, marks));
    const found = await waitForAnswer(server, running);
    if (found === undefined) return running;
    fault = found;
    await stopServer(running);
  }
  const log = (await lastLines(logOf(server))).map((line) => `  ${line}`).join('\n');
  throw new ServiceFailure(
    `${server.label} at ${server.address}: ${fault}, ${maxStarts} starts in a row; the end of ${logOf(server)}:\n${log}`,
  );
}

/** Kills a server; resolves when it is gone. */
export async function stopServer(server: RunningServer): Promise<void> {
  const ticks = startTicks(server.pid);
  if (ticks === undefined) return;
  signalServer(server, 'SIGKILL');
  const giveUpMs = performance.now() + goneWithinMs;
  while (startTicks(server.pid) === ticks) {
    if (performance.now() > giveUpMs) {
      throw new ServiceFailure(
        `process ${server.pid} in ${server.folder} is still there ${goneWithinMs} ms after SIGKILL`,
      );
    }
    await delay(pollMs / 10);
  }
}

/** Sends a signal to the server's process group. Returns false when it is gone already. */
export function signalServer(server: RunningServer, signal: NodeJS.Signals): boolean {
  if (runningServer(server.pid)?.folder !== server.folder) return false;
  try {
    return process.kill(-server.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

async function launch(server: Server, marks: Omit<ServerMarks, 'folder'>): Promise<RunningServer> {
  await waitForPorts(server);
  mkdirSync(server.folder, { recursive: true });
  const ownMarks = { ...marks, folder: server.folder };
  const command = tiedToOwner(server.prepare(), marks.owner);
  const log = openLog(logOf(server));
  const child = spawn(command.program, command.arguments, {
    cwd: server.folder,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...command.environment,
      ...marksAsEnvironment(ownMarks),
    },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  try {
    await once(child, 'spawn');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new ServiceFailure(`${server.label} can't start: ${command.program} is missing (${command.remedy})`);
  }
  child.unref();
  return { ...ownMarks, pid: child.pid! };
}

// A server that was killed a moment ago is gone from the process table before its ports are free.
async function waitForPorts(server: Server): Promise<void> {
  const giveUpMs = performance.now() + portsFreeWithinMs;
  for (;;) {
    const listener = server.ports.map(listenerOn).find((listener) => listener !== undefined);
    if (listener === undefined) return;
    if (performance.now() > giveUpMs) {
      throw new ServiceFailure(`${server.label} can't start: ${describeListener(listener)}; stop that process first`);
    }
    await delay(pollMs);
  }
}

// The kernel then kills the server when the process that owns it ends, however it ends. Where setpriv is missing, the
// owner's exit does it (instance.ts), and after a SIGKILL of the owner the next command (owner.ts).
function tiedToOwner(command: Command, owner: string): Command {
  if (!owner.startsWith('process ') || !existsSync(setpriv)) return command;
  return { ...command, program: setpriv, arguments: ['--pdeathsig', 'KILL', command.program, ...command.arguments] };
}

async function waitForAnswer(server: Server, running: RunningServer): Promise<string | undefined> {
  const giveUpMs = performance.now() + server.readyWithinMs;
  for (;;) {
    if (runningServer(running.pid) === undefined) return 'it ended by itself';
    const fault = await server.findFault();
    if (fault === undefined) return undefined;
    if (performance.now() > giveUpMs) return `no answer within ${server.readyWithinMs / 1000} s (${fault})`;
    await delay(pollMs);
  }
}

function openLog(path: string): number {
  if (existsSync(path) && statSync(path).size > maxLogBytes) renameSync(path, `${path}.previous`);
  return openSync(path, 'a');
}

async function lastLines(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, shownLogBytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-shownLogLines);
  } finally {
    await file.close();
  }
}
