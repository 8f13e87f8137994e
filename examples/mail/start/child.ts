// A child process that is meant to keep running.
//
// Owns: the child, its log file, and how often it was started. The caller owns when it starts and stops.
// Invariants:
//  C1  At most one process of a Child runs at a time.
//  C2  After stop() was called no process is started.
//  C3  It is started at most 1 + maxRestarts times; then `ended` says why, once.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ChildOptions {
  /** For messages: `engine`. */
  readonly name: string;
  /** Script and arguments, for Node. */
  readonly commandLine: readonly string[];
  /** Beside that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** What the child prints, since this start. */
  readonly logPath: string;
  /** How often it is started again when it ends by itself. */
  readonly maxRestarts: number;
  /** Milliseconds before it is started again: the time a port needs to become free. */
  readonly restartDelayMs: number;
  /** Told when it ended by itself and is started again. */
  readonly onRestart: (message: string) => void;
}

// Milliseconds a child gets to finish what it is doing, before it is killed. Longer than the engine needs to drain short calls.
const stopTimeoutMs = 15_000;
// Characters of the log shown when a child ends by itself.
const maxLogTail = 2_000;
const exitWithParent = fileURLToPath(new URL('../exit-with-parent.ts', import.meta.url));

export class Child {
  /** Resolves with a message when the child ended by itself and is not started again; never after stop(). */
  readonly ended: Promise<string>;
  readonly #options: ChildOptions;
  readonly #log: number;
  #process: ChildProcess | undefined;
  #restart: NodeJS.Timeout | undefined;
  #restarts = 0;
  #stopped = false;
  #sayEnded: (message: string) => void = () => {};

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#log = openSync(options.logPath, 'w');
    this.ended = new Promise((resolve) => {
      this.#sayEnded = resolve;
    });
    this.#start();
  }

  /** Asks the child to stop and waits until it has. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    clearTimeout(this.#restart);
    const child = this.#process;
    if (child !== undefined) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
      child.kill('SIGTERM');
      await gone;
      clearTimeout(timer);
    }
    closeSync(this.#log);
  }

  #start(): void {
    const child = spawn(process.execPath, ['--import', exitWithParent, ...this.#options.commandLine], {
      env: { ...process.env, ...this.#options.environment },
      // The channel tells the child when this process is gone.
      stdio: ['ignore', this.#log, this.#log, 'ipc'],
      // Ctrl-C in a terminal reaches a whole group: the order of stopping is decided here.
      detached: true,
    });
    this.#process = child;
    child.once('error', (error) => this.#onExit(error.message));
    child.once('exit', (code, signal) =>
      this.#onExit(signal === null ? `ended with code ${code}` : `killed by ${signal}`),
    );
  }

  #onExit(how: string): void {
    if (this.#process === undefined) return;
    this.#process = undefined;
    if (this.#stopped) return;
    const { name, maxRestarts, restartDelayMs, onRestart } = this.#options;
    if (this.#restarts === maxRestarts) {
      this.#sayEnded(`${name} ${how}. It printed last:\n${this.#logTail()}`);
      return;
    }
    this.#restarts += 1;
    onRestart(`${name} ${how}; started again (${this.#restarts} of ${maxRestarts} times)`);
    this.#restart = setTimeout(() => this.#start(), restartDelayMs);
  }

  #logTail(): string {
    return readFileSync(this.#options.logPath, 'utf8').slice(-maxLogTail).trim() || '(nothing)';
  }
}
