// One life of a `weir` process, as an operator sees it: what it prints, what it is sent, how it ends.
//
// Owns the child.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Orphans } from '../chaos/orphans.ts';

const program = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

/** Lines of standard error that are kept: the first of them say what went wrong. */
const maxLines = 10_000;

export interface ProcessEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface WeirProcessOptions {
  /** Of the `weir` command. */
  readonly commandLine: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly orphans: Orphans;
}

export class WeirProcess {
  /** Resolves with the first line on standard output: it is ready. Rejects when it ends before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<ProcessEnd>;
  /** On standard error. */
  readonly lines: string[] = [];
  readonly #child;
  #end: ProcessEnd | undefined;

  constructor({ commandLine, environment, orphans }: WeirProcessOptions) {
    const child = spawn(process.execPath, [program, ...commandLine], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    const { pid } = child;
    if (pid === undefined) throw new Error(`weir ${commandLine.join(' ')} can't be started`);
    orphans.born(pid);
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (this.lines.length < maxLines) this.lines.push(line);
    });
    const ready = Promise.withResolvers<string>();
    createInterface({ input: child.stdout }).once('line', ready.resolve);
    this.ready = ready.promise;
    // Who expects its end never waits for this.
    this.ready.catch(() => {});
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        this.#end = { code, signal };
        orphans.gone(pid);
        ready.reject(
          new Error(`weir ${commandLine.join(' ')} ended with ${signal ?? code}:\n${this.lines.join('\n')}`),
        );
        resolve(this.#end);
      });
    });
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }

  /** SIGTERM; resolves when it has ended by itself. */
  async stop(): Promise<ProcessEnd> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}
